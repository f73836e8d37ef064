# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What the tests of training from the command line share: a training that takes a second on a CPU."""

import math
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import (AS_ONE_OF_MANY, DOES_NOT_FIT, DONE, FAILED, PROGRAM, USAGE, ProgramTest,  # noqa: E402,F401
                     permissions_can_be_tested)

INTERRUPTED = 130

# Threads that wait for each other in turns take long where other tests run at the same time.
os.environ["OMP_NUM_THREADS"] = "1"

MODEL = ("small_resnet", "--device", "cpu")
SMALL = (*MODEL, "--width", "4", "--batch", "32")
# With dropout, half precision and an optimizer that has states and counts its steps.
SMALL_GPT = ("gpt", "--device", "cpu", "--layers", "2", "--width", "32", "--heads", "2", "--context", "32", "--batch",
             "32", "--dropout", "0.1", "--optimizer", "adamw", "--amp", "bf16")
CHECKPOINT = "checkpoint.safetensors"

# Where a disk has to help: host memory for moved values holds the largest of them, but not all.
SPILLING = ("--budget", "80%", "--no-recompute", "--tiers", "host,disk", "--host-cap", "2MiB", "--spill-dir")


class TrainTest(ProgramTest):
    """A test with an empty folder of its own."""

    def setUp(self):
        super().setUp()
        (self.folder / "step.trace").unlink()

    def interrupt(self, line_start, *arguments):
        """Sends Ctrl-C when the program prints such a line; gives the exit code and what was printed."""
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                if line.startswith(line_start):
                    break
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def write_pictures(self, folder, training=64, evaluation=16):
        """Random pictures and labels as IDX files with the names that MNIST has."""
        draw = random.Random(1)
        (self.folder / folder).mkdir(parents=True)
        for part, count in (("train", training), ("t10k", evaluation)):
            for kind, sizes, values in (("images-idx3", (count, 28, 28), 256), ("labels-idx1", (count,), 10)):
                head = struct.pack(f">HBB{len(sizes)}I", 0, 8, len(sizes), *sizes)
                elements = bytes(draw.randrange(values) for _ in range(math.prod(sizes)))
                (self.folder / folder / f"{part}-{kind}-ubyte").write_bytes(head + elements)

    def checkpoint(self, folder):
        return (self.folder / folder / CHECKPOINT).read_bytes()

    def train(self, folder, *options, model=SMALL):
        """Trains with a checkpoint in `folder` and gives its bytes."""
        self.succeed("train", *model, "--checkpoint", folder, *options)
        self.assertEqual([CHECKPOINT], [path.name for path in (self.folder / folder).iterdir()])
        return self.checkpoint(folder)
