# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide compare --measure`: rows for all budgets, plain's losses, the picture; and what a wrong use of it says."""

import json
import xml.dom.minidom

from training import DOES_NOT_FIT, FAILED, INTERRUPTED, SMALL, USAGE, TrainTest

ROUND = (*SMALL, "--measure", "--steps", "1", "--untimed-steps", "2", "--rounds")
QUICK = (*ROUND, "2")


class Measure(TrainTest):
    def test_json_has_a_row_for_each_budget_the_largest_first(self):
        found = json.loads(self.succeed("compare", *QUICK, "--budgets", "60%,20KiB,100%", "--json"))
        self.assertEqual((found["model"], found["batch"], found["rounds"]), ("small_resnet", 32, 2))
        self.assertTrue(found["identical"])
        whole, part, refused = found["budgets"]
        self.assertEqual([row["budget"] for row in found["budgets"]], ["100%", "60%", "20KiB"])
        self.assertEqual(whole["budget_bytes"], found["plain_peak_bytes"])
        self.assertEqual(part["budget_bytes"], found["plain_peak_bytes"] * 60 // 100)
        for row in (whole, part):
            self.assertLessEqual(row["peak_bytes"], row["budget_bytes"])
            self.assertEqual(len(row["ratios"]), 2)
            self.assertLessEqual(row["least_ratio"], row["ratio"])
        self.assertGreater(part["evictions_a_step"], 0)
        self.assertNotIn("saved_seconds_per_further_gib", whole)
        self.assertIn("saved_seconds_per_further_gib", part)
        self.assertTrue(refused["refused"])
        self.assertGreater(refused["needed_bytes"], 20 << 10)

    def test_table_and_picture(self):
        out = self.succeed("compare", *QUICK, "--budgets", "80%,1KiB", "--svg", "price.svg")
        self.assertRegex(out, r"\nplain +- +\S+ MiB ")
        self.assertRegex(out, r"\n80% +\S+ MiB +\S+ MiB +\S+ \S+ +\S+ %")
        self.assertRegex(out, r"\n1KiB +1.00 KiB +refused \(an op needs ")
        self.assertIn("bit for bit (3 steps)", out)
        self.assertEqual(self.names(), ["price.svg"])
        picture = xml.dom.minidom.parseString(self.read("price.svg"))
        words = [node.firstChild.data for node in picture.getElementsByTagName("text")]
        self.assertIn("refused", words)
        # Each with one in the legend: the budget that is kept, and its peak.
        self.assertEqual(len(picture.getElementsByTagName("circle")), 2)
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)
        self.assertIn("saved by 1 GiB, ms", words)

    def test_other_options_of_trainings(self):
        found = json.loads(self.succeed("compare", *ROUND, "1", "--optimizer", "adam", "--amp", "bf16",
                                        "--policy", "capuchin", "--tiers", "none", "--lr", "0.01", "-b", "90%",
                                        "--json"))
        self.assertEqual((found["optimizer"], found["amp"], found["policy"], found["tiers"]),
                         ("adam", "bf16", "capuchin", "none"))
        self.assertTrue(found["identical"])

    def test_no_budget_can_be_kept(self):
        done = self.run_program("compare", *QUICK, "--budgets", "1KiB,2KiB")
        self.assertEqual(done.returncode, DOES_NOT_FIT, done.stderr)
        self.assertEqual(done.stdout.count("refused"), 2)

    def test_can_be_interrupted(self):
        code, out, err = self.interrupt("round 2 ", "compare", *ROUND, "1000", "--budgets", "60%")
        self.assertEqual(code, INTERRUPTED, err)
        self.assertIn("only the rounds that were done count", err)
        self.assertRegex(out, r"policy auto, \d+ rounds? of 1 timed step\n")

    def test_without_measuring_a_step_is_recorded_and_planned(self):
        found = json.loads(self.succeed("compare", *SMALL, "--budgets", "90%,80%", "--policies", "keep_all,dtr",
                                        "--csv", "plans.csv", "--html", "plans.html", "--json"))
        rows = found["comparisons"][0]["plans"]
        self.assertEqual([row["policy"] for row in rows], ["dtr", "keep_all"] * 2)
        self.assertEqual([row["refused"] for row in rows], [False, True] * 2)
        self.assertEqual(len(self.read("plans.csv").splitlines()), 5)
        self.assertIn("<svg", self.read("plans.html"))
        self.assertEqual(self.names(), ["plans.csv", "plans.html"])

    def test_a_step_is_planned_for_the_machine_it_was_recorded_on(self):
        def comparison(*more):
            found = json.loads(self.succeed("compare", *SMALL, "--budgets", "100%", "--policies", "keep_all", *more, "--json"))
            return found["comparisons"][0]
        own, other = comparison(), comparison("--machine", "h200")
        self.assertEqual((own["device"], other["device"]), ("cpu", "h200"))
        self.assertEqual(own["trace"], other["trace"])

    def test_bad_input(self):
        for code, arguments, message in (
                (USAGE, QUICK, "--budget is required"),
                (USAGE, (*QUICK, "--budgets", "80%,lots"), "not a size: 'lots'"),
                (USAGE, (*QUICK, "--budgets", "80%,0%"), "a budget of nothing cannot be kept: '0%'"),
                (USAGE, (*QUICK, "--budgets", "80%,"), "not a size: ''"),
                (USAGE, (*ROUND, "0", "--budgets", "80%"), "--rounds"),
                (USAGE, (*QUICK, "--budgets", "80%", "--svg", "-"), "name a file"),
                (FAILED, (*QUICK, "--budgets", "80%", "--svg", "nowhere/a.svg"), "cannot write nowhere/a.svg"),
                (FAILED, (*QUICK, "--budgets", "80%", "--policy", "nope"), "nope"),
                (USAGE, ("resnet5", "--measure", "--budgets", "80%"), "unknown model 'resnet5'"),
                (USAGE, ("resnet5", "--budgets", "80%"), "unknown model 'resnet5'"),
                (USAGE, (*SMALL, "--budgets", "80%", "--policies", "nope"), "unknown policy 'nope'"),
                (FAILED, (*SMALL, "--budgets", "80%", "--csv", "nowhere/a.csv"), "cannot write nowhere/a.csv"),
                (USAGE, ("--measure", "--budgets", "80%"), "MODEL is required")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(code, "compare", *arguments))

    def test_share_of_next_to_nothing(self):
        done = self.run_program("compare", *QUICK, "--budgets", "0.001%,0.0000002%")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("a budget of nothing cannot be kept: 0.0000002%", done.stderr)

    def test_help_tells_of_both(self):
        self.assertIn("--measure", self.succeed("compare", "--help"))
        self.assertIn("--svg", self.succeed("compare", "--measure", "--help"))
