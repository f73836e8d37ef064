# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""kill -9 at any moment from launch on: the checkpoint is whole, the disk is clean, and going on loses no bit.

The moments are drawn from a seed, LT_SEED, that is printed when the test fails."""

import json
import os
import random
import subprocess
import threading
import time

from training import CHECKPOINT, PROGRAM, SMALL, SPILLING, TrainTest

KILLS = 24
# On a machine that is busy with other things there are fewer.
MOST_SECONDS = 60
OPTIONS = ("--steps", "60", "--checkpoint-every", "1")
# A run that is refused would not go on: another optimizer (Adam, say) needs other budgets.
BUDGETS = ((), ("--budget", "75%"), ("--budget", "90%", "--tiers", "none"), (*SPILLING, "spill"))
# Lines after which it may be killed: while libraries are loaded, a plain peak is measured, a checkpoint is read, and
# one is written after each step. What does not come up in a run leaves it to come to its end.
LAUNCH = ""
LINES = (LAUNCH, "measuring ", "going on ", "step ", "step ")


def step_of(checkpoint):
    """How far the training had come; fails unless the file has the length that its header says."""
    length = int.from_bytes(checkpoint[:8], "little")
    header = json.loads(checkpoint[8:8 + length])
    step = int(header.pop("__metadata__")["step"])
    assert len(checkpoint) == 8 + length + max(about["data_offsets"][1] for about in header.values())
    return step


class Kill(TrainTest):
    def start(self, folder, *options):
        return subprocess.Popen([PROGRAM, "train", *SMALL, *OPTIONS, "--checkpoint", folder, "--resume", *options],
                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def kill(self, line_start, seconds, *options):
        """The exit code of a run that is killed so long after such a line, unless it ended before."""
        with self.start("run", *options) as process:
            said = []
            if line_start != LAUNCH:
                for line in process.stderr:
                    said.append(line)
                    if line.startswith(line_start):
                        break
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            said.append(process.stderr.read())
            process.wait()
            timer.cancel()
        self.assertIn(process.returncode, (0, -9), "".join(said))
        return process.returncode

    def train_whole(self):
        """The checkpoint of a run that nobody disturbs, and how long it took from launch to the first step."""
        start = time.monotonic()
        with self.start("whole") as process:
            process.stderr.readline()  # that there is no checkpoint yet
            process.stderr.readline()
            seconds = time.monotonic() - start
            process.stderr.read()
        self.assertEqual(process.returncode, 0)
        return self.checkpoint("whole"), seconds

    def check_what_is_left(self, step):
        self.assertEqual(list((self.folder / "spill").iterdir()), [])
        run = self.folder / "run"
        left = {path.name for path in run.iterdir()} if run.exists() else set()
        self.assertLessEqual(left, {CHECKPOINT, CHECKPOINT + ".part"})
        if CHECKPOINT not in left:
            self.assertEqual(step, 0, "the checkpoint is gone")
            return 0
        now = step_of(self.checkpoint("run"))
        self.assertGreaterEqual(now, step)
        return now

    def test_loses_nothing(self):
        seed = int(os.environ.get("LT_SEED", random.randrange(2**32)))
        draw = random.Random(seed)
        with self.subTest(LT_SEED=seed):
            whole, launch_seconds = self.train_whole()
            (self.folder / "spill").mkdir()
            step, kills = 0, 0
            end = time.monotonic() + MOST_SECONDS
            for _ in range(KILLS):
                if time.monotonic() > end:
                    break
                line = draw.choice(LINES)
                seconds = draw.uniform(0, launch_seconds if line == LAUNCH else 0.15)
                kills += self.kill(line, seconds, *draw.choice(BUDGETS)) != 0
                step = self.check_what_is_left(step)
            self.assertGreater(kills, 0)
            self.assertEqual(self.train("run", *OPTIONS, "--resume"), whole)
