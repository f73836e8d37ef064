# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Tests of tools/record_trace.py on the CPU. Run: python3 -m unittest discover tools/tests"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

try:
    import torch
except ModuleNotFoundError as error:
    raise unittest.SkipTest("torch is not installed, so the recorder of traces is not tested") from error

from torch import nn

import record_trace
from recorder.checking import replay
from recorder.recording import record
from recorder.structure import StructureRecorder
from recorder.training import Recipe, Task, vector_batch
from recorder.watching import Watcher, watched_step
from recorder.writing import write_trace


class Residual(nn.Module):
    """Two branches meet, so autograd sums two gradients."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(512, 512), nn.Linear(512, 512), nn.BatchNorm1d(512)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        return x + torch.dropout(self.norm(self.second(x)), 0.5, True)


def residual_task() -> Task:
    build = lambda: nn.Sequential(Residual(), Residual())
    recipe = Recipe(build, vector_batch, 8, 512, "adam")
    return Task(recipe, 8, 512, torch.device("cpu"))


def record_text(task: Task) -> tuple[StructureRecorder, str]:
    task.step()
    recorder, _, _ = record(task)
    return recorder, write_trace("residual", [], recorder.storages, recorder.ops)


class Recording(unittest.TestCase):
    def test_leaves_training_as_it_was_bit_for_bit(self):
        watched, plain = residual_task(), residual_task()
        torch.manual_seed(1)
        for _ in range(4):
            plain.step()
        torch.manual_seed(1)
        watched.step()
        names = watched_step(watched, Watcher()).names
        for _ in range(2):
            watched_step(watched, StructureRecorder(watched, names[:]))
        for a, b in zip(watched.model.state_dict().values(), plain.model.state_dict().values(), strict=True):
            self.assertTrue(torch.equal(a, b))

    def test_gradients_are_summed_in_place_as_in_a_plain_step(self):
        recorder, _ = record_text(residual_task())
        self.assertIn("add_", [op.name for op in recorder.ops if op.phase == "backward"])

    def test_running_statistics_are_side_effects(self):
        recorder, _ = record_text(residual_task())
        norms = [op for op in recorder.ops if op.name == "native_batch_norm"]
        self.assertEqual([sum(op.writes.values()) for op in norms], [2, 2])

    def test_only_sources_outlive_the_step(self):
        recorder, text = record_text(residual_task())
        replay(text)
        self.assertEqual([s for s in recorder.storages if s.is_end and not s.is_start], [])
        self.assertEqual(len([s for s in recorder.storages if s.kind == "gradient"]), 12)


class Command(unittest.TestCase):
    def test_writes_a_trace_that_can_be_replayed(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            path = pathlib.Path(folder, "mlp.trace")
            self.assertEqual(record_trace.main(["mlp", "--batch", "8", "-o", str(path)]), 0)
            result = replay(path.read_text(encoding="ascii"))
        self.assertIn(f"mlp: {result.op_count} ops, {result.storage_count} storages", printed.getvalue())


class Replaying(unittest.TestCase):
    def test_peak_counts_what_an_op_frees_and_its_workspace(self):
        text = """lowtide-trace 1
            storage p 512 parameter start end
            storage a 1 activation
            storage b 513 temporary
            op f forward : p -> a
            op g forward workspace=100 : a -> b free a
            op h forward once : b p -> p free b
        """
        result = replay(text)
        self.assertEqual((result.peak_bytes, result.peak_op), (512 + 512 + 1024 + 512, 1))
        self.assertEqual(result.live_bytes, [512, 513, 1025])

    def test_refuses_broken_traces(self):
        storages = "storage p 4 parameter start end\nstorage a 4 activation\n"
        for name, ops in {
            "read before write": "op f forward : a -> a free a",
            "read after free": "op f forward : p -> a free a\nop g forward : a ->",
            "write after free": "op f forward : p -> a free a\nop g forward : p -> a",
            "free of what must stay": "op f forward : p -> a free a p",
            "alive at the end": "op f forward : p -> a",
        }.items():
            with self.subTest(name), self.assertRaises(ValueError):
                replay(storages + ops)


if __name__ == "__main__":
    unittest.main()
