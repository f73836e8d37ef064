# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The rules of `lowtide estimate` against what was recorded on a GPU, and under autocast against training."""

import json
import pathlib

from training import TrainTest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def workspaces(text):
    """Of each convolution's ops in a trace, in their order."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["op"] and words[1].startswith("convolution"):
            sizes = [int(word.partition("=")[2]) for word in words if word.startswith("workspace=")]
            rows.append((words[1], sizes[0] if sizes else 0))
    return rows


class EstimateRules(TrainTest):
    def test_workspaces_of_convolutions_are_those_of_a_recorded_step(self):
        self.succeed("estimate", "vgg16", "--batch", "64", "-o", "step.trace")
        estimated = workspaces((self.folder / "step.trace").read_text())
        recorded = workspaces((ROOT / "data/traces/vgg16.trace").read_text())
        self.assertEqual([name for name, _ in estimated], [name for name, _ in recorded])
        for i, ((name, ours), (_, theirs)) in enumerate(zip(estimated, recorded)):
            with self.subTest(op=name, number=i):
                self.assertAlmostEqual(ours, theirs, delta=0.01 * theirs + 2**20)

    def test_the_peak_under_autocast_is_within_one_percent_of_the_gates(self):
        arguments = ("gpt2", "--context", "16", "--layers", "2", "--batch", "4", "--amp", "bf16", "--optimizer",
                     "adamw", "--device", "cpu", "--json")
        estimated = json.loads(self.succeed("estimate", *arguments, "--states", "start"))["estimates"][0]
        trained = json.loads(self.succeed("train", *arguments, "--data", "synthetic", "--steps", "2"))
        self.assertAlmostEqual(estimated["peak_bytes"] / trained["peak_bytes"], 1, delta=0.01)
