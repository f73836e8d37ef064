# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Exporters and the profiler, which read tensors in C++ and around the dispatcher."""

import copy
import importlib.util
import io
import unittest
import warnings

import torch

import lowtide
from test_everyday import is_away


class Exported(unittest.TestCase):
    def check(self, export):
        """export(model, file) reads all parameters at once, in C++."""
        torch.manual_seed(1)
        model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)])
        wanted = model(torch.ones(64, 256))
        file = io.BytesIO()
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            model(torch.randn(64, 256)).sum().backward()
            self.assertTrue(is_away(model[0].weight))
            export(model, file)
        file.seek(0)
        return wanted, file

    def test_by_torchscript(self):
        for to_script in (torch.jit.script, lambda model: torch.jit.trace(model, torch.ones(64, 256))):
            wanted, file = self.check(lambda model, file, to_script=to_script: torch.jit.save(
                to_script(model), file))
            self.assertTrue(torch.equal(torch.jit.load(file)(torch.ones(64, 256)), wanted))

    def test_to_onnx(self):
        _, file = self.check(lambda model, file: torch.onnx.export(
            model, (torch.ones(64, 256),), file, dynamo=False))
        self.assertGreater(len(file.getvalue()), 3 * 256 * 256 * 4)

    @unittest.skipUnless(importlib.util.find_spec("onnxscript"), "needs the package onnxscript")
    def test_to_onnx_by_dynamo(self):
        import onnx
        weights = {}

        def export(model, file):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = torch.onnx.export(model.eval(), (torch.ones(64, 256),), dynamo=True,
                                            verbose=False)
            # They leave once more, and the program reads them when it is saved.
            model(torch.randn(64, 256)).sum().backward()
            self.assertTrue(is_away(model[0].weight))
            program.save(file)
            weights.update(copy.deepcopy(model.state_dict()))

        _, file = self.check(export)
        saved = {entry.name: entry.raw_data for entry in onnx.load(file).graph.initializer}
        self.assertEqual(saved, {name: weight.numpy().tobytes() for name, weight in weights.items()})


class Profiled(unittest.TestCase):
    """torch's profiler reads addresses where it is to tell shapes or stacks."""

    def steps(self):
        model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)])
        model(torch.randn(256, 256)).sum().backward()

    def test_goes_without_shapes_and_stacks(self):
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            self.steps()
            with self.assertWarnsRegex(UserWarning, "without record_shapes, with_stack: "), (
                    torch.profiler.profile(record_shapes=True, with_stack=True)) as profile:
                self.steps()
        self.assertEqual(sum(event.name == "aten::addmm" for event in profile.events()), 3)
        with torch.profiler.profile(record_shapes=True) as profile:
            self.steps()
        self.assertEqual(next(event.input_shapes for event in profile.events()
                              if event.name == "aten::addmm")[1], [256, 256])

    def test_that_has_begun_with_them_is_refused(self):
        with torch.profiler.profile(with_stack=True):
            with self.assertRaisesRegex(lowtide.Error, "start it within the budget"):
                lowtide.budget("1GiB", device="cpu").__enter__()
            self.assertIsNone(lowtide._session.current())
        with torch.profiler.profile(), lowtide.budget("1GiB", device="cpu", evict_everything=True):
            self.steps()


if __name__ == "__main__":
    unittest.main()
