# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Hugging Face's Trainer, Lightning, and the searches for a batch that fits: the real libraries."""

import copy
import gc
import importlib.util
import inspect
import os
import pathlib
import tempfile
import unittest
import warnings

import numpy
import torch

import lowtide
import training
from test_everyday import digest_of, read_elsewhere

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def needs(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"needs the package {name}")


def state_of(model):
    return training.bits(dict(model.state_dict()))


@needs("transformers")
class HuggingFace(unittest.TestCase):
    def setUp(self):
        import transformers
        self.transformers = transformers
        transformers.logging.set_verbosity_error()

    def small(self, kind):
        """A model built from its configuration, with a step's inputs."""
        transformers = self.transformers
        torch.manual_seed(5)
        if kind == "bert":
            config = transformers.BertConfig(vocab_size=500, hidden_size=128, num_hidden_layers=3,
                                             num_attention_heads=4, intermediate_size=512)
            return transformers.BertForMaskedLM(config)
        config = transformers.GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=3,
                                         n_head=4)
        return transformers.GPT2LMHeadModel(config)

    def test_models_train_with_the_same_bits(self):
        for kind in ("bert", "gpt2"):
            for share in (0.6, 0.4):
                with self.subTest(kind=kind, share=share):
                    self.check(self.small(kind), share)

    def check(self, model, share):
        class WithLoss(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, tokens):
                return self.model(input_ids=tokens, labels=tokens).loss

        training.check_identity(self, WithLoss(), lambda: torch.randint(0, 500, (16, 64)), share,
                                make_optimizer=torch.optim.AdamW, loss_of=lambda loss: loss)

    def train(self, callbacks):
        model = self.small("gpt2")
        tokens = torch.randint(0, 500, (24, 64), generator=torch.Generator().manual_seed(1))
        data = [{"input_ids": row, "labels": row} for row in tokens]
        with tempfile.TemporaryDirectory() as folder:
            arguments = self.transformers.TrainingArguments(
                output_dir=folder, max_steps=4, per_device_train_batch_size=8, use_cpu=True, seed=3,
                report_to=[], logging_steps=1, save_steps=2, disable_tqdm=True)
            trainer = self.transformers.Trainer(model=model, args=arguments, train_dataset=data,
                                                callbacks=callbacks)
            trainer.train()
            saved = self.transformers.GPT2LMHeadModel.from_pretrained(
                os.path.join(folder, "checkpoint-4"))
        return model, saved, trainer.state.log_history

    def test_the_trainer_takes_a_callback(self):
        from lowtide.integrations.transformers import LowtideCallback
        plain, _, _ = self.train([])
        callback = LowtideCallback("12MiB", device="cpu")
        managed, saved, history = self.train([callback])
        self.assertIsNone(training.first_difference(state_of(plain), state_of(managed)))
        self.assertIsNone(training.first_difference(state_of(plain), state_of(saved)))
        self.assertGreater(callback.stats["evictions"], 0)
        self.assertLessEqual(callback.stats["peak_bytes"], 12 << 20)
        self.assertTrue(any("lowtide_peak_bytes" in row for row in history))
        self.assertIsNone(lowtide._session.current())

    def test_a_training_that_fails_ends_the_budget(self):
        from lowtide.integrations.transformers import LowtideCallback

        class Fails(self.transformers.TrainerCallback):
            def on_step_end(self, args, state, control, **_):
                if state.global_step == 2:
                    raise ZeroDivisionError("mine")

        callback = LowtideCallback("12MiB", device="cpu")
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.train([callback, Fails()])
        self.assertIsNone(lowtide._session.current())
        self.assertEqual(callback.stats["steps"], 2)

    def test_the_trainer_is_changed_only_as_long_as_there_is_a_callback(self):
        from lowtide.integrations.transformers import LowtideCallback
        gc.collect()
        before = self.transformers.Trainer.train
        self.assertEqual(before.__code__.co_filename, inspect.getsourcefile(self.transformers.Trainer))
        first = LowtideCallback("1GiB", device="cpu")
        second = copy.copy(first)
        del first
        self.assertIsNot(self.transformers.Trainer.train, before)
        del second
        self.assertIs(self.transformers.Trainer.train, before)

    def test_a_model_is_saved_within_a_budget_that_it_does_not_fit(self):
        plain = self.small("gpt2")
        size = sum(parameter.nbytes for parameter in plain.parameters())
        with tempfile.TemporaryDirectory() as folder:
            plain.save_pretrained(f"{folder}/plain")
            with lowtide.budget(size // 2, device="cpu", means="host") as budget:
                managed = self.small("gpt2")
                for _ in range(2):
                    managed.save_pretrained(f"{folder}/managed")
                    # Nothing is kept by that: there is room for other things.
                    self.assertEqual(torch.ones(size // 3, dtype=torch.uint8).min().item(), 1)
                stats = budget.stats()
            files = [pathlib.Path(folder, name, "model.safetensors").read_bytes()
                     for name in ("plain", "managed")]
        self.assertEqual(files[0], files[1])
        self.assertLessEqual(stats["peak_bytes"], size // 2)


@needs("safetensors")
class Safetensors(unittest.TestCase):
    def test_what_shares_memory_is_seen_to_do_so(self):
        from safetensors.torch import load_file, save_file, save_model
        with tempfile.TemporaryDirectory() as folder, lowtide.budget(
                "1GiB", device="cpu", means="host", evict_everything=True):
            path = f"{folder}/some.safetensors"
            whole = torch.randn(600, 600) * 1
            apart = {"first": whole[:300], "second": whole[300:], "empty": torch.empty(0)}
            save_file(apart, path)
            for name, tensor in load_file(path).items():
                self.assertTrue(torch.equal(tensor, apart[name]))
            with self.assertRaisesRegex(RuntimeError, "share memory"):
                save_file({"whole": whole, "part": whole[:400]}, path)
            model = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.Linear(300, 300))
            model[1].weight = model[0].weight
            save_model(model, path)
            self.assertEqual(set(load_file(path)), {"0.weight", "0.bias", "1.bias"})


@needs("lightning")
class Lightning(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        # A trainer and its module refer to each other, and what they hold counts.
        gc.collect()
        import lightning.pytorch
        self.lightning = lightning.pytorch

        class Net(lightning.pytorch.LightningModule):
            def __init__(self, batch_size=256):
                super().__init__()
                self.batch_size = batch_size
                torch.manual_seed(2)
                self.net = torch.nn.Sequential(*[
                    layer for _ in range(4) for layer in (torch.nn.Linear(256, 256),
                                                          torch.nn.ReLU())])

            def training_step(self, batch, _):
                return self.net(batch[0]).square().mean()

            def configure_optimizers(self):
                return torch.optim.Adam(self.parameters())

            def train_dataloader(self):
                # In memory of numpy's, which no budget counts.
                inputs = torch.from_numpy(numpy.random.default_rng(1).standard_normal(
                    (4096, 256), dtype=numpy.float32))
                return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs),
                                                   batch_size=self.batch_size)

        self.make = Net

    def trainer(self, **options):
        options = {"enable_checkpointing": False} | options
        return self.lightning.Trainer(accelerator="cpu", logger=False, enable_progress_bar=False,
                                      enable_model_summary=False, **options)

    def test_the_trainer_takes_a_callback(self):
        from lowtide.integrations.lightning import LowtideCallback
        plain, managed = self.make(), self.make()
        self.trainer(max_steps=3).fit(plain)
        callback = LowtideCallback("3MiB", device="cpu")
        self.trainer(max_steps=3, callbacks=[callback]).fit(managed)
        self.assertIsNone(training.first_difference(state_of(plain), state_of(managed)))
        self.assertGreater(callback.stats["evictions"], 0)
        self.assertLessEqual(callback.stats["peak_bytes"], 3 << 20)
        self.assertIsNone(lowtide._session.current())

    def test_its_checkpoints_can_be_read_without_lowtide(self):
        from lowtide.integrations.lightning import LowtideCallback
        model = self.make()
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.trainer(max_steps=4, default_root_dir=folder, enable_checkpointing=True,
                                   callbacks=[LowtideCallback("3MiB", device="cpu")])
            trainer.fit(model)
            saved, = pathlib.Path(folder).rglob("*.ckpt")
            self.assertEqual(read_elsewhere(saved), digest_of(model.state_dict()))

    def test_a_budget_that_is_too_small_ends_with_the_training(self):
        from lowtide.integrations.lightning import LowtideCallback
        with self.assertRaises(torch.OutOfMemoryError):
            self.trainer(max_steps=3, callbacks=[LowtideCallback("300KiB", device="cpu")]).fit(
                self.make())
        self.assertIsNone(lowtide._session.current())

    def test_its_search_for_a_batch_knows_the_error(self):
        from lightning.pytorch.tuner import Tuner
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.trainer(max_steps=1, default_root_dir=folder)
            with lowtide.budget("2MiB", device="cpu"):
                found = Tuner(trainer).scale_batch_size(self.make(64), mode="power",
                                                        steps_per_trial=1, init_val=64, max_trials=8)
        self.assertIsNotNone(found)
        self.assertLess(found, 1024)


@needs("accelerate")
class Accelerate(unittest.TestCase):
    def test_its_search_for_a_batch_knows_the_error(self):
        from accelerate.utils import find_executable_batch_size
        tried = []

        @find_executable_batch_size(starting_batch_size=4096)
        def train(batch_size):
            tried.append(batch_size)
            layer = torch.nn.Linear(256, 256)
            with lowtide.budget("2MiB", device="cpu"):
                layer(torch.randn(batch_size, 256)).relu().sum().backward()
            return batch_size

        found = train()
        self.assertGreater(len(tried), 1)
        self.assertLess(found, 4096)


if __name__ == "__main__":
    unittest.main()
