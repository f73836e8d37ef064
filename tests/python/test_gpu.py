# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The package on a GPU: eager and compiled training, and code that takes addresses there."""

import contextlib
import copy
import gc
import importlib.util
import io
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

# cuBLAS asks for it where results are to be the same from run to run.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import torch

import gpu_subjects as subjects
import lowtide
import training
from gpu_subjects import triton

HAS_GPU = torch.cuda.is_available()
MIB = 2**20
HERE = pathlib.Path(__file__).parent
CASES = ((0.6, "recompute"), (0.6, "host"), (0.4, "mixed"))


def adamw(parameters):
    return torch.optim.AdamW(parameters, fused=True)


def importable(*names):
    return next((name for name in names if importlib.util.find_spec(name.split(".")[0])), None)


def clean_up():
    # What is compiled keeps tensors, and what cuBLAS keeps would count in the next test's budget.
    torch._dynamo.reset()
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


@unittest.skipUnless(HAS_GPU, "needs a GPU")
class OnAGpu(unittest.TestCase):
    def setUp(self):
        torch.use_deterministic_algorithms(True)
        clean_up()
        # What an earlier test of this process has left counts in every budget.
        self.left = torch.cuda.memory_allocated()
        if self.left > 8 * MIB:
            warnings.warn(f"{self.left / MIB:.0f} MiB were on the device before {self.id()}")

    def tearDown(self):
        torch.use_deterministic_algorithms(False)
        clean_up()

    def assert_kept(self, stats, budget):
        self.assertLessEqual(stats["peak_bytes"], budget)
        self.assertLessEqual(stats["reserved_peak_bytes"], budget)
        self.assertGreater(stats["evictions"], 0)

    def check_runs(self, run, share):
        """run(budget) gives what is compared, and statistics. Plainly and within a share of the peak
        it gives the same."""
        plain, _ = run(None)
        _, free = run("100GiB")
        budget = int(free["peak_bytes"] * share)
        managed, stats = run(budget)
        self.assertIsNone(training.first_difference(plain, managed))
        self.assert_kept(stats, budget)


def budget_of(budget, **options):
    if budget is None:
        return contextlib.nullcontext()
    return lowtide.budget(budget, device="cuda", **options)


class Eager(OnAGpu):
    def check(self, model, make_batch, cases=CASES, **arguments):
        arguments |= {"device": "cuda", "steps": 4}
        plain, _ = training.train(model, make_batch, **arguments)
        peak = training.peak_of(model, make_batch, **arguments)
        for share, means in cases:
            with self.subTest(share=share, means=means):
                budget = self.left + int((peak - self.left) * share)
                self.assert_kept(training.check_managed(self, plain, model, make_batch, budget,
                                                        means=means, **arguments), budget)

    def test_a_resnet(self):
        # A convolution and its workspace take 0.49 of the peak together with what libraries hold (seen on an
        # H200), and what the large blocks and torch's own have free is not in one place.
        self.check(subjects.resnet18(), subjects.resnet_batch,
                   ((0.75, "recompute"), (0.6, "host"), (0.6, "mixed")))

    def test_a_gpt(self):
        self.check(subjects.gpt(), subjects.gpt_batch, make_optimizer=adamw)

    def test_recurrent_layers(self):
        self.check(subjects.recurrent(), subjects.recurrent_batch,
                   ((0.6, "host"), (0.4, "mixed")))

    @unittest.skipUnless(triton, "needs Triton")
    def test_an_operator_of_ones_own(self):
        self.check(subjects.with_own_operator(), subjects.rows_batch)

    def test_torch_counts_no_more_than_the_budget(self):
        model, budget = subjects.resnet(), 1500 * MIB
        training.train(model, subjects.resnet_batch, device="cuda", budget=budget)
        clean_up()
        torch.cuda.reset_peak_memory_stats()
        training.train(model, subjects.resnet_batch, device="cuda", budget=budget, steps=6)
        self.assertLessEqual(torch.cuda.max_memory_allocated(), budget)
        self.assertLessEqual(torch.cuda.max_memory_reserved(), budget)

    def test_too_small_a_budget_is_torchs_own_error(self):
        with self.assertRaisesRegex(torch.OutOfMemoryError, "^CUDA out of memory. Lowtide: ") as caught:
            training.train(subjects.resnet(), subjects.resnet_batch, device="cuda",
                           budget=300 * MIB)
        self.assertEqual(len(caught.exception.args), 1)
        # What has failed leaves the card usable.
        training.train(subjects.resnet(), subjects.resnet_batch, device="cuda", steps=1)


    def test_errors_of_a_session_on_the_cpu_do_not_speak_of_the_gpu(self):
        for error in (lambda: torch.empty(4 * MIB), lambda: lowtide.hold(*tensors).__enter__()):
            with self.subTest(error), lowtide.budget("3MiB", device="cpu"):
                tensors = [torch.ones(MIB // 2) for _ in range(2)]
                with self.assertRaisesRegex(torch.OutOfMemoryError, "^DefaultCPUAllocator: .*Lowtide"):
                    error()
                tensors.clear()


class Shares(OnAGpu):
    def test_a_share_of_the_plain_peak_holds_from_the_third_step_on(self):
        def run(budget):
            model = subjects.resnet()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            torch.manual_seed(7)
            losses, limits, stats = [], set(), {}
            with budget_of(budget):
                for _ in range(8):
                    loss = model(subjects.resnet_batch()).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                    if budget:
                        stats = lowtide.memory_stats()
                        limits.add(stats["budget_bytes"])
                return training.bits([losses, model.state_dict()]), stats, limits

        plain, _, _ = run(None)
        managed, stats, limits = run("50%")
        self.assertIsNone(training.first_difference(plain, managed))
        self.assertEqual(len(limits), 2)  # None, then one.
        self.assert_kept(stats, stats["budget_bytes"])

    def test_half_precision_with_a_scaler(self):
        def run(budget):
            model = subjects.gpt()
            optimizer, scaler = adamw(model.parameters()), torch.amp.GradScaler()
            torch.manual_seed(7)
            with budget_of(budget):
                for _ in range(5):
                    with torch.autocast("cuda", torch.float16):
                        loss = model(subjects.gpt_batch()).float().square().mean()
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()
                stats = lowtide.memory_stats() if budget else {}
                return training.bits([loss, model.state_dict(), scaler.state_dict()]), stats

        self.check_runs(run, 0.6)


class Looking(OnAGpu):
    def setUp(self):
        super().setUp()
        self.model = model = subjects.resnet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        def step():
            loss = model(subjects.resnet_batch()).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        self.step = step
        with lowtide.budget("100GiB", device="cuda"):
            step()
            step()
            self.budget = int(0.6 * lowtide.memory_stats()["peak_bytes"])

    def tearDown(self):
        del self.model, self.step
        super().tearDown()

    def test_verify(self):
        verdict = lowtide.verify(self.step, self.budget, device="cuda")
        self.assertTrue(verdict, verdict.difference)
        self.assert_kept(verdict.stats, self.budget)

    def test_trace(self):
        trace = lowtide.trace(self.step, device="cuda", model=self.model).json
        for expected in ("convolution_backward", "layer1.0.conv1.weight", "layer4.2.bn3"):
            self.assertIn(expected, trace)

    def test_report(self):
        with lowtide.budget(self.budget, device="cuda", report=True):
            for _ in range(6):
                self.step()
        page = lowtide.last_report().html(think_seconds=0.5)
        self.assertIn("Content-Security-Policy", page)
        self.assertIn("convolution_backward", page)


class Compiled(OnAGpu):
    def steps(self, model, make_batch, budget=None, **options):
        """Like training.train(), for a model that is not copied: compiled code stays compiled."""
        # Blocks share their code, and torch compiles one function only so many times.
        torch._dynamo.reset()
        gc.collect()
        optimizer = torch.optim.AdamW(model.parameters())
        torch.manual_seed(7)
        losses, stats = [], {}
        with budget_of(budget, **options):
            for _ in range(4):
                loss = model(make_batch()).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            if budget:
                stats = lowtide.memory_stats()
        return training.bits([losses, model.state_dict()]), stats

    def check(self, compiled, make_batch, works_at, refused_at=(), **options):
        """compiled() makes the model anew. Where it may be refused, a refusal is seen as a skip."""
        plain, _ = self.steps(compiled(), make_batch)
        _, free = self.steps(compiled(), make_batch, "100GiB")
        for share in (*works_at, *refused_at):
            with self.subTest(share=share):
                budget = int(free["peak_bytes"] * share)
                try:
                    managed, stats = self.steps(compiled(), make_batch, budget, **options)
                except torch.OutOfMemoryError as error:
                    self.assertIn(share, refused_at, str(error))
                    self.skipTest(f"refused at {share:.0%}, as it may be: {error}")
                self.assertIsNone(training.first_difference(plain, managed))
                self.assertLessEqual(stats["peak_bytes"], budget)
                self.assertGreater(stats["evictions"], 0)


class CompiledByBlocks(Compiled):
    def test_a_gpt(self):
        self.check(lambda: subjects.compiled_by_blocks(subjects.gpt()), subjects.gpt_batch,
                   (0.6, 0.4))

    def test_a_resnet(self):
        self.check(lambda: subjects.compiled_by_blocks(subjects.resnet18()), subjects.resnet_batch,
                   (0.6,), refused_at=(0.4,))


class CompiledWhole(Compiled):
    # Inside the one graph nothing can leave: what does are the optimizer's states. So parameters,
    # gradients and what the graph keeps for the backward pass are the least that it takes.
    def test_a_gpt(self):
        self.check(lambda: torch.compile(subjects.wide_gpt()), subjects.short_batch, (0.6,),
                   refused_at=(0.4,))

    def test_a_resnet(self):
        # Torch takes memory in pieces of 20 MiB, which is much of this.
        self.check(lambda: torch.compile(subjects.resnet18()), subjects.small_resnet_batch, (0.9,),
                   refused_at=(0.6,), cap_reserved=False)


class CudaGraphs(OnAGpu):
    def check(self, what):
        """Works, or says why it does not: then that is seen as a skip."""
        result = subprocess.run([sys.executable, str(HERE / "gpu_graphs.py"), what], text=True,
                                capture_output=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr[-4000:])
        said = result.stdout.strip()
        if said != "same":
            self.assertRegex(said, "^refused: ")
            self.skipTest(said[:2000])

    def test_one_of_ones_own_with_its_inputs_held(self):
        self.check("held")

    def test_one_of_ones_own(self):
        self.check("as-it-is")

    def test_those_of_torch_compile(self):
        self.check("compiled")

    def test_those_of_torch_compile_within_a_budget(self):
        self.check("compiled-within")


class Evicting(OnAGpu):
    """Each test has a tensor whose bytes are not on the device, because everything is evicted at
    once."""
    means = "host"

    def setUp(self):
        super().setUp()
        self.budget = lowtide.budget("4GiB", device="cuda", means=self.means, evict_everything=True)
        self.budget.__enter__()
        self.addCleanup(clean_up)
        self.addCleanup(self.budget.__exit__, None, None, None)
        torch.manual_seed(3)
        self.tensor = torch.randn(2048, 2048, device="cuda")
        self.wanted = self.tensor.cpu()
        self.tensor.add_(0)

    def is_away(self, tensor):
        try:
            # Not through what is wrapped.
            torch._C.TensorBase.data_ptr(tensor)
        except RuntimeError as error:
            self.assertIn("evicted", str(error))
            return True
        return False

    def assert_is(self, tensor, wanted):
        # Ops that evict whatever may be evicted, and take the memory of what is gone.
        for _ in range(3):
            torch.randn(2048, 2048, device="cuda").mul_(2)
        self.assertTrue(torch.equal(tensor.cpu(), wanted))


class Away(Evicting):
    def setUp(self):
        super().setUp()
        self.assertTrue(self.is_away(self.tensor))

    def test_numpy(self):
        self.assertTrue((self.tensor.cpu().numpy() == self.wanted.numpy()).all())
        with self.assertRaisesRegex(TypeError, "device type tensor to numpy"):
            self.tensor.numpy()
        self.assertTrue((self.tensor.numpy(force=True) == self.wanted.numpy()).all())

    def test_copies(self):
        self.assert_is(copy.deepcopy(self.tensor), self.wanted)
        self.assert_is(pickle.loads(pickle.dumps(self.tensor)), self.wanted)
        buffer = io.BytesIO()
        torch.save(self.tensor, buffer)
        buffer.seek(0)
        self.assert_is(torch.load(buffer), self.wanted)
        self.assertEqual(self.tensor[0].tolist(), self.wanted[0].tolist())

    def test_copies_to_pinned_memory(self):
        pinned = torch.empty(self.wanted.shape, pin_memory=True)
        pinned.copy_(self.tensor, non_blocking=True)
        torch.randn(2048, 2048, device="cuda").mul_(2)
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(pinned, self.wanted))

    def test_dlpack(self):
        other = torch.from_dlpack(self.tensor)
        self.assert_is(other, self.wanted)
        other.mul_(2)
        self.assert_is(self.tensor, 2 * self.wanted)

    def test_the_array_interface(self):
        class Array:
            __cuda_array_interface__ = self.tensor.__cuda_array_interface__

        other = torch.as_tensor(Array(), device="cuda")
        self.assert_is(other, self.wanted)
        self.tensor.mul_(2)
        self.assert_is(other, 2 * self.wanted)

    @unittest.skipUnless(triton, "needs Triton")
    def test_a_triton_kernel_reads(self):
        result = torch.empty_like(self.tensor)
        subjects.launch_scaled(self.tensor, result, 2.0)
        self.assert_is(result, 2 * self.wanted)
        self.assert_is(self.tensor, self.wanted)

    @unittest.skipUnless(triton, "needs Triton")
    def test_a_triton_kernel_writes_in_place(self):
        subjects.launch_scaled(self.tensor, self.tensor, 2.0)
        self.assert_is(self.tensor, 2 * self.wanted)
        with lowtide.hold(self.tensor):
            subjects.launch_scaled(self.tensor, self.tensor, 2.0)
        self.assert_is(self.tensor, 4 * self.wanted)

    def test_memory_that_another_stream_uses_is_not_given_away(self):
        side, copied = torch.cuda.Stream(), torch.empty_like(self.tensor)
        passed_on = self.tensor * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            # So long that the main stream gets ahead.
            torch.cuda._sleep(50_000_000)
            copied.copy_(passed_on)
            passed_on.record_stream(side)
            copied.record_stream(side)
        del passed_on
        taken = [torch.full_like(self.tensor, 5) for _ in range(4)]
        torch.cuda.current_stream().wait_stream(side)
        self.assert_is(copied, 2 * self.wanted)
        for tensor in taken:
            self.assert_is(tensor, torch.full_like(self.wanted, 5))

    def test_work_on_another_stream(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            doubled = self.tensor * 2
            doubled.record_stream(side)
            self.tensor.record_stream(side)
        torch.cuda.current_stream().wait_stream(side)
        self.assert_is(doubled, 2 * self.wanted)
        self.assert_is(self.tensor.add_(1), self.wanted + 1)


class Extensions(Evicting):
    @unittest.skipUnless(shutil.which("nvcc") and shutil.which("ninja"), "needs nvcc and ninja")
    def test_one_that_takes_addresses_fails_loudly_or_is_held(self):
        from torch.utils.cpp_extension import load_inline
        extension = load_inline("lowtide_addresses", subjects.ADDRESSES,
                                functions="copy_by_address", with_cuda=True)
        result = torch.zeros_like(self.tensor)
        with self.assertRaisesRegex(RuntimeError, "evicted"):
            extension.copy_by_address(self.tensor, result)
        with lowtide.hold(self.tensor), self.assertRaisesRegex(RuntimeError, "evicted"):
            extension.copy_by_address(self.tensor, result)
        with lowtide.hold(self.tensor, result):
            extension.copy_by_address(self.tensor, result)
        self.assert_is(result, self.wanted)


class WritesBehindTheDispatcher(Evicting):
    """What was computed from a tensor, and dropped, is not what it would be after the write."""
    means = "recompute"

    def check(self, write):
        tripled = self.tensor * 3
        tripled.add_(0)
        self.assertTrue(self.is_away(tripled))
        write(self.tensor)
        self.assert_is(tripled, 3 * self.wanted)
        self.assert_is(self.tensor, 2 * self.wanted)
        self.assert_is(self.tensor * 3, 6 * self.wanted)

    @unittest.skipUnless(triton, "needs Triton")
    def test_by_a_triton_kernel(self):
        self.check(lambda tensor: subjects.launch_scaled(tensor, tensor, 2.0))

    @unittest.skipUnless(triton, "needs Triton")
    def test_by_an_operator_of_ones_own(self):
        self.check(lambda tensor: subjects.scale_in_place(tensor, 2.0))

    def test_by_dlpack(self):
        self.check(lambda tensor: torch.from_dlpack(tensor).mul_(2))


class Programs(OnAGpu):
    def run_python(self, *arguments):
        result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                                timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_script_without_an_edit(self):
        with tempfile.TemporaryDirectory() as folder:
            script = str(pathlib.Path(folder) / "train.py")
            pathlib.Path(script).write_text(subjects.SCRIPT)
            loss, peak = self.run_python(script).stdout.split()
            managed = self.run_python("-m", "lowtide", "run", "--budget", f"{int(peak) * 6 // 10}B",
                                      "--stats", script)
        self.assertEqual(managed.stdout.split()[0], loss)
        self.assertLessEqual(int(managed.stdout.split()[1]), int(peak) * 6 // 10)
        self.assertRegex(managed.stderr, r"evictions [1-9]")
        self.assertRegex(managed.stderr, r"lowtide: peak [\d.]+ of [\d.]+ MiB, 6 steps")

    @unittest.skipUnless(importable("accelerate"), "needs accelerate")
    def test_accelerates_search_for_a_batch_knows_the_error(self):
        from accelerate.utils import find_executable_batch_size
        tried = []

        @find_executable_batch_size(starting_batch_size=1 << 17)
        def train(batch_size):
            tried.append(batch_size)
            with lowtide.budget("400MiB", device="cuda"):
                layer = torch.nn.Linear(1024, 1024, device="cuda")
                layer(torch.randn(batch_size, 1024, device="cuda")).relu().sum().backward()
            return batch_size

        self.assertLess(train(), 1 << 17)
        self.assertGreater(len(tried), 1)

    @unittest.skipUnless(importable("transformers"), "needs transformers")
    def test_hugging_faces_trainer(self):
        import transformers
        from lowtide.integrations.transformers import LowtideCallback
        transformers.logging.set_verbosity_error()

        def run(budget):
            torch.manual_seed(5)
            model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
                vocab_size=500, n_positions=256, n_embd=256, n_layer=6, n_head=4))
            tokens = torch.randint(0, 500, (80, 256), generator=torch.Generator().manual_seed(1))
            callbacks = [LowtideCallback(budget, device="cuda")] if budget else []
            with tempfile.TemporaryDirectory() as folder:
                arguments = transformers.TrainingArguments(
                    output_dir=folder, max_steps=5, per_device_train_batch_size=16, seed=3,
                    report_to=[], logging_steps=1, save_steps=5, disable_tqdm=True)
                transformers.Trainer(
                    model=model, args=arguments, callbacks=callbacks,
                    train_dataset=[{"input_ids": row, "labels": row} for row in tokens]).train()
                saved = transformers.GPT2LMHeadModel.from_pretrained(f"{folder}/checkpoint-5")
            return training.bits([model.state_dict(), saved.state_dict()]), (
                callbacks[0].stats if budget else {})

        self.check_runs(run, 0.6)


class LightningsTrainer(OnAGpu):
    def setUp(self):
        super().setUp()
        if not importable("lightning", "pytorch_lightning"):
            self.skipTest("needs lightning")
        warnings.simplefilter("ignore")
        if importable("lightning"):
            import lightning.pytorch as lightning
        else:
            import pytorch_lightning as lightning
        self.lightning = lightning
        self.make = subjects.lightning_module(lightning)

    def trainer(self, **options):
        return self.lightning.Trainer(accelerator="gpu", devices=1, logger=False,
                                      enable_checkpointing=False, enable_progress_bar=False,
                                      enable_model_summary=False, **options)

    def test_takes_a_callback(self):
        from lowtide.integrations.lightning import LowtideCallback

        def run(budget):
            model = self.make()
            callbacks = [LowtideCallback(budget, device="cuda")] if budget else []
            self.trainer(max_steps=5, callbacks=callbacks).fit(model)
            return training.bits(model.state_dict()), callbacks[0].stats if budget else {}

        self.check_runs(run, 0.6)

    def test_its_search_for_a_batch_knows_the_error(self):
        tuner = importlib.import_module(f"{self.lightning.__name__}.tuner")
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.trainer(max_steps=1, default_root_dir=folder)
            with lowtide.budget("400MiB", device="cuda"):
                found = tuner.Tuner(trainer).scale_batch_size(
                    self.make(2048), mode="power", steps_per_trial=1, init_val=2048, max_trials=5)
        self.assertIsNotNone(found)
        self.assertLess(found, 1 << 16)


if __name__ == "__main__":
    unittest.main()
