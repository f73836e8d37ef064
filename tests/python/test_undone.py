# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Whatever is changed in torch and Python while a budget is in force is as before after it."""

import importlib
import importlib.util
import pathlib
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import numpy
import torch
import torch.distributed
from torch.optim import optimizer as torch_optimizer

import lowtide
from test_everyday import values


class AfterTheBudget(unittest.TestCase):
    def owners(self):
        """What has anything replaced now: classes and modules of torch and Python."""
        parts = [module for name, module in sys.modules.items() if name.startswith("lowtide._")]
        replaced = [pair for part in parts for patches in vars(part).values()
                    if isinstance(patches, lowtide._patching.Patches)
                    for pair in patches.replaced()]
        return list({id(owner): owner for owner, _ in replaced}.values()), replaced

    def surroundings(self, owners):
        """All attributes of those, and what is told of imports and steps."""
        return [*(dict(vars(owner)) for owner in owners), list(sys.meta_path),
                dict(torch_optimizer._global_optimizer_post_hooks)]

    def test_everything_is_back_and_torch_as_before(self):
        names = (torch.Tensor, torch.UntypedStorage, torch.serialization, torch.cuda.CUDAGraph,
                 threading.Thread)
        if importlib.util.find_spec("safetensors"):
            names += (importlib.import_module("safetensors.torch"),)
        with lowtide.budget("1GiB", device="cpu"):
            owners, replaced = self.owners()
        for owner in names:
            self.assertTrue(any(owner is found for found in owners), owner)
        before = self.surroundings(owners)
        attributes = [vars(owner).get(name) for owner, name in replaced]
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            tensor = values().add_(0)
            for (owner, name), attribute in zip(replaced, attributes):
                self.assertIsNot(vars(owner).get(name), attribute, name)
        self.assertEqual(self.surroundings(owners), before)
        numpy.testing.assert_array_equal(tensor.numpy(), values().numpy())

    def test_what_cannot_be_changed_leaves_nothing_changed(self):
        names = {"numpy": torch.Tensor.numpy, "tolist": torch.Tensor.tolist, "set_": torch.Tensor.set_}
        with mock.patch.object(torch.nn, "RNNBase", types.SimpleNamespace()):
            with self.assertRaisesRegex(AttributeError, "flatten_parameters"):
                lowtide.budget("1GiB", device="cpu").__enter__()
        self.assertEqual({name: getattr(torch.Tensor, name) for name in names}, names)
        self.assertIsNone(lowtide._session.current())
        with lowtide.budget("1GiB", device="cpu"):
            self.assertNotEqual(torch.Tensor.numpy, names["numpy"])
        self.assertEqual({name: getattr(torch.Tensor, name) for name in names}, names)

    def test_a_module_that_is_imported_in_it_or_later_is_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("early_module", "late_module"):
                pathlib.Path(folder, f"{name}.py").write_text("def asked(): return 1")
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            patches = lowtide._patching.Patches()
            for name in ("early_module", "late_module"):
                patches.when_imported(name, lambda module: patches.replace(
                    module, "asked", lambda original: lambda: original() + 1))
            import early_module
            self.assertEqual(early_module.asked(), 2)
            patches.undo()
            import late_module
            self.assertEqual((early_module.asked(), late_module.asked()), (1, 1))

    def test_parallel_modules_have_no_hooks_of_it(self):
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0,
                                             world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)
        weight = None
        for _ in range(2):
            with lowtide.budget("1GiB", device="cpu"):
                model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256))
                weight = model.module.weight
                model(torch.randn(64, 256)).sum().backward()
                self.assertEqual(len(weight._post_accumulate_grad_hooks), 1)
            self.assertEqual(len(weight._post_accumulate_grad_hooks), 0)


if __name__ == "__main__":
    unittest.main()
