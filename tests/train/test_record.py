# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide train --record`: what a run leaves behind, and that `lowtide report` takes it."""

import json

from training import FAILED, SMALL, TrainTest


class Record(TrainTest):
    def record(self, *options):
        """The record of a short training, and the summary of its report."""
        self.succeed("train", *SMALL, "--record", "run.json", *options)
        summary = json.loads(self.succeed("report", "run.json", "-o", "report.html", "--json", "--think", "1"))
        self.assertLess((self.folder / "report.html").stat().st_size, 1_000_000)
        return json.loads(self.read("run.json")), summary

    def test_of_the_online_rule_has_no_plan_and_the_report_predicts_one(self):
        record, summary = self.record("--steps", "8", "--budget", "65%")
        self.assertIsNone(record["plan"])
        self.assertEqual((record["title"], record["policy"], record["batch"]), ("small_resnet", "online", 32))
        self.assertEqual(len(record["step_seconds"]), 8)
        self.assertEqual(record["statistics"]["steps"], 9, "and what came before the first")
        self.assertGreater(record["statistics"]["evictions"], 0)
        self.assertEqual(record["statistics"]["budget_bytes"], record["budget_bytes"])
        self.assertIn("blocks.0.conv1", {op.get("layer") for op in record["trace"]["ops"]})
        self.assertEqual(summary["basis"], "predicted")
        self.assertEqual(summary["title"], "small_resnet")
        self.assertGreater(summary["plain_peak_bytes"], summary["budget_bytes"])

    def test_of_a_guided_run_has_the_plan_that_was_carried_out(self):
        record, summary = self.record("--steps", "30", "--budget", "65%", "--policy", "capuchin")
        self.assertEqual(record["plan"]["policy"], "capuchin")
        self.assertEqual(summary["basis"], "carried_out")
        self.assertEqual(summary["policy"], "capuchin")

    def test_without_a_budget_shows_the_plain_step(self):
        record, summary = self.record("--steps", "2")
        self.assertEqual((record["budget_bytes"], record["policy"]), (0, ""))
        self.assertEqual(summary["basis"], "plain")

    def test_changes_nothing_in_the_training(self):
        with_record = self.train("a", "--steps", "6", "--budget", "65%", "--record", "run.json")
        self.assertEqual(with_record, self.train("b", "--steps", "6", "--budget", "65%"))

    def test_that_cannot_be_written_is_told_before_the_training(self):
        self.assertIn("nowhere", self.fail_with(FAILED, "train", *SMALL, "--record", "nowhere/run.json"))
