# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""kill -9 at any moment: the checkpoint is whole, the disk is clean, and going on loses no bit.

The moments are drawn from a seed, LT_SEED, that is printed when the test fails."""

import os
import random
import subprocess
import time

from training import CHECKPOINT, PROGRAM, SMALL, TrainTest

KILLS = 15
OPTIONS = ("--steps", "60", "--checkpoint-every", "1", "--optimizer", "adam")


class Kill(TrainTest):
    def start(self, *options):
        return subprocess.Popen([PROGRAM, "train", *SMALL, *OPTIONS, "--checkpoint", "run", "--resume", *options],
                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def kill_after_first_step(self, seconds, *options):
        """Whether the training was still going on when it was killed."""
        with self.start(*options) as process:
            for line in process.stderr:
                if line.startswith("step "):
                    break
            time.sleep(seconds)
            process.kill()
        return process.returncode < 0

    def test_loses_nothing(self):
        seed = int(os.environ.get("LT_SEED", random.randrange(2**32)))
        draw = random.Random(seed)
        whole = self.train("whole", *OPTIONS)
        (self.folder / "spill").mkdir()
        kills = 0
        with self.subTest(LT_SEED=seed):
            for _ in range(KILLS):
                options = draw.choice(((), ("--budget", "80%"), ("--budget", "75%", "--spill-dir", "spill")))
                kills += self.kill_after_first_step(draw.uniform(0, 0.15), *options)
                self.assertEqual(list((self.folder / "spill").iterdir()), [])
                left = {path.name for path in (self.folder / "run").iterdir()}
                self.assertLessEqual(left, {CHECKPOINT, CHECKPOINT + ".part"})
            self.assertGreater(kills, 0)
            self.assertEqual(self.train("run", *OPTIONS, "--resume"), whole)
