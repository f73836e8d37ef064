# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide max-batch`: what it finds is what `lowtide train` can do, and one example more is not."""

import json
import signal
import subprocess

from training import DOES_NOT_FIT, FAILED, INTERRUPTED, MODEL, PROGRAM, USAGE, TrainTest

TINY = (*MODEL, "--width", "4")


class MaxBatch(TrainTest):
    def train_with(self, batch, *options):
        return self.run_program("train", *TINY, "--batch", str(batch), "--steps", "5", "--json", *options)

    def evictions(self, batch, *options):
        done = self.train_with(batch, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["evictions"]

    def test_finds_the_largest_plain_and_managed_exactly(self):
        # Values may be moved: then what one op needs at once is the limit, and not the online rule's luck.
        for options in (("--budget", "3MiB"), ("--budget", "3MiB", "--optimizer", "adam")):
            with self.subTest(options=options):
                found = json.loads(self.succeed("max-batch", *TINY, *options, "--json"))
                plain, managed = found["plain"]["batch"], found["managed"]["batch"]
                self.assertLess(plain, managed)
                self.assertLessEqual(found["managed"]["peak_bytes"], found["budget_bytes"])
                self.assertEqual(self.evictions(plain, *options), 0)
                self.assertGreater(self.evictions(plain + 1, *options), 0)
                self.assertGreater(self.evictions(managed, *options), 0)
                self.assertEqual(self.train_with(managed + 1, *options).returncode, DOES_NOT_FIT)

    def test_tells_what_was_tried(self):
        found = json.loads(self.succeed("max-batch", *TINY, "--budget", "3MiB", "--json"))
        tries = {tried["batch"]: tried for tried in found["tries"]}
        self.assertTrue(tries[found["plain"]["batch"]]["plain"])
        self.assertFalse(tries[found["plain"]["batch"] + 1]["plain"])
        self.assertTrue(tries[found["managed"]["batch"]]["fits"])
        self.assertIn("refusal", tries[found["managed"]["batch"] + 1])
        rates = [tried.get("examples_per_second", 0) for tried in (found["plain"], *tries.values())]
        self.assertEqual(found["fastest"]["examples_per_second"], max(rates))
        self.assertEqual((found["model"], found["budget_bytes"]), ("small_resnet", 3 << 20))
        # The neighbours of the fastest were tried, unless there are none.
        fastest = found["fastest"]["batch"]
        below = max((batch for batch in tries if batch < fastest), default=None)
        above = min((batch for batch in tries if batch > fastest), default=None)
        self.assertEqual((found.get("tried_below_fastest"), found.get("tried_above_fastest")), (below, above))

    def test_times_the_plain_batch_without_a_session(self):
        found = json.loads(self.succeed("max-batch", *TINY, "--budget", "3MiB", "--json"))
        self.assertFalse(found["plain"]["inside_session"])
        self.assertGreater(found["plain"]["examples_per_second"], 0)
        for tried in (found["managed"], *(tried for tried in found["tries"] if tried["fits"])):
            self.assertTrue(tried["inside_session"])

    def test_table(self):
        out = self.succeed("max-batch", *TINY, "--budget", "3MiB")
        for row in ("largest, plain", "largest, Lowtide", "fastest tried"):
            self.assertRegex(out, rf"\n{row} +\d+ +\d")
        self.assertIn("The plain batch was timed without Lowtide.", out)
        self.assertRegex(out, r"The fastest is that of \d+ batches that were tried; the nearest others are \d+")

    def test_budget_beyond_what_is_free_is_cut(self):
        found = json.loads(self.succeed("max-batch", *TINY, "--budget", "1000TiB", "--most", "4", "--json"))
        self.assertEqual(found["asked_budget_bytes"], 1000 << 40)
        self.assertLess(found["budget_bytes"], json.loads(self.succeed("doctor", "--json"))["memory_bytes"])

    def test_stops_at_the_ceiling_and_at_the_end_of_the_data(self):
        out = self.succeed("max-batch", *TINY, "--budget", "1GiB", "--most", "9")
        self.assertIn("No larger batch was tried: 9 ", out)
        text = self.write("short.txt", "to be or not to be " * 100)
        found = json.loads(self.succeed("max-batch", "gpt", "--layers", "1", "--width", "8", "--heads", "1",
                                        "--context", "8", "--device", "cpu", "--data", text, "--budget", "1GiB",
                                        "--json"))
        self.assertEqual(found["managed"]["batch"], found["most"])
        self.assertLess(found["most"], 1900)

    def test_no_batch_fits(self):
        done = self.run_program("max-batch", *TINY, "--budget", "100KiB")
        self.assertEqual(done.returncode, DOES_NOT_FIT, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("no batch trains within 100.0 KiB; with a batch of 2: out of memory", done.stderr.splitlines()[-1])

    def test_budget_in_which_something_is_always_evicted(self):
        """And batch norm refuses a single example, for the last pictures are of one pixel."""
        options = (*MODEL, "--width", "32", "--size", "4", "--optimizer", "adam", "--budget", "9MiB")
        found = json.loads(self.succeed("max-batch", *options, "--most", "2", "--json"))
        self.assertIsNone(found["plain"])
        self.assertEqual(found["managed"]["batch"], 2)
        self.assertGreater(found["managed"]["evictions"], 0)
        self.assertIn("more than 1 value per channel", found["tries"][0]["refusal"])
        done = self.run_program("max-batch", *options, "--most", "1")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        # The lines before it tell what was tried.
        self.assertRegex(done.stderr.splitlines()[-1], "^lowtide: error: .*more than 1 value per channel")

    def test_can_be_interrupted(self):
        with subprocess.Popen([PROGRAM, "max-batch", *TINY, "--budget", "1GiB"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, INTERRUPTED, err)
        self.assertEqual(out, "")
        self.assertIn("stopped before the largest batch was found", err)

    def test_bad_input(self):
        for arguments, message in ((TINY, "--budget is required"),
                                   ((*TINY, "--budget", "60%"), "give a size, such as 8GiB"),
                                   ((*TINY, "--budget", "lots"), "not a size: 'lots'"),
                                   ((*TINY, "--budget", "1GiB", "--most", "0"), "--most"),
                                   ((*TINY, "--budget", "1GiB", "--batch", "3"), "unknown option '--batch'"),
                                   (("resnet5", "--budget", "1GiB"), "unknown model 'resnet5'")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, "max-batch", *arguments))
