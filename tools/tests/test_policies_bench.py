# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""How bench/policies/add puts new measured runs beside the committed ones."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "gpt2-medium"
PLAIN = {"mode": "plain", "ratios": [1.0], "step_seconds": [[0.07, 0.07, 0.07]]}


def measured_row(policy, ratio):
    """A run that followed its plan, predicted 2 % too quick."""
    return {"mode": f"{policy} 35%", "ratios": [ratio], "step_seconds": [[0.07 * ratio]], "budget_bytes": 1000,
            "timed_peak_bytes": 940, "predicted_peak_bytes": 940, "predicted_step_seconds": 0.07 * ratio * 0.98,
            "guided_steps": 9, "plans_dropped": 0, "shortages_a_step": 0}


class Added(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "bench", self.root / "bench")
        shutil.copytree(ROOT / "docs", self.root / "docs")
        self.program = self.root / "program"
        self.program.write_text("#!/bin/sh\necho catalogue\n")
        self.program.chmod(0o755)

    def add(self, *runs, date="2099-01-01"):
        files = []
        for number, run in enumerate(runs):
            files.append(self.root / f"run{number}.json")
            files[-1].write_text(json.dumps(run))
        return subprocess.run([self.root / "bench/policies/add", "--program", self.program, "--date", date, *files],
                              text=True, capture_output=True, check=False)

    def results(self):
        return sorted(path.name for path in (self.root / "bench/results").glob("*-policies-h200.json"))

    def forget_tight_runs(self):
        """As if MODEL had not been measured at 35 %."""
        path = self.root / "bench/results" / self.results()[-1]
        document = json.loads(path.read_text())
        for model in document["models"]:
            if model["model"] == MODEL:
                model["rows"] = [row for row in model["rows"] if not row["mode"].endswith(" 35%")]
        path.write_text(json.dumps(document))

    def page(self, name):
        return (self.root / "docs" / name).read_text()

    def test_committed_tables_are_those_of_the_committed_runs(self):
        before = self.page("policies-measured.md")
        done = self.add(date=self.results()[-1][:10])
        self.assertEqual(done.returncode, 2, "no runs named")
        run = json.loads((self.root / "bench/results" / self.results()[-1]).read_text())["models"][0]
        done = self.add(run, date=self.results()[-1][:10])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.page("policies-measured.md"), before)

    def test_a_column_that_was_empty(self):
        self.forget_tight_runs()
        runs = [{"model": MODEL, "command": "c", "broken": [], "rows": [PLAIN, measured_row(policy, ratio)]}
                for policy, ratio in (("tide", 1.5), ("dtr", 2.0), ("capuchin", 3.0))]
        old = self.results()
        done = self.add(*runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.results(), ["2099-01-01-policies-h200.json"])
        page = self.page("policies-measured.md")
        self.assertRegex(page, r"\| `tide` \| 1\.\d\d .*\| 1\.50 / 1\.47 \| 94 / 94 \|")
        # Beside what was measured before.
        self.assertRegex(page, r"\| `capuchin` \| 1\.\d\d .*\| 3\.00 / 2\.94 \| 94 / 94 \|")
        self.assertIn(f"| {MODEL} at 35%, as planned | 3 | 2.0 | 0.0 |", page)
        for name in ("policies-measured.md", "policies.md"):
            self.assertNotIn(old[-1].removesuffix(".json"), self.page(name))
            self.assertIn("2099-01-01-policies-h200", self.page(name))
        self.assertTrue(self.page("policies.md").endswith("catalogue\n"))

    def test_the_page_has_a_column_once_half_of_the_policies_are_measured(self):
        self.forget_tight_runs()
        document = json.loads((self.root / "bench/results" / self.results()[-1]).read_text())
        policies = {row["mode"].rpartition(" ")[0] for model in document["models"] if model["model"] == MODEL
                    for row in model["rows"] if row["mode"].endswith("%")}
        head = "| least | H 70% | H 50% | H 35% |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        one = {"model": MODEL, "command": "c", "broken": [], "rows": [PLAIN, measured_row("tide", 2.0)]}
        self.assertEqual(self.add(one).returncode, 0)
        self.assertEqual(self.page("policies.md").count(head), 2)
        rows = [measured_row(policy, 4.0 if policy == "dtr" else 2.0) for policy in sorted(policies)]
        done = self.add({"model": MODEL, "command": "c", "broken": [], "rows": [PLAIN, *rows]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.page("policies.md").count(head), 3)

    def test_what_figures_no_longer_bear_out_is_named_and_the_page_stays(self):
        before = self.page("policies.md")
        row = {**measured_row("tide", 9.0), "mode": "tide 50%"}
        done = self.add({"model": MODEL, "command": "c", "broken": [], "rows": [PLAIN, row]})
        self.assertEqual(done.returncode, 1)
        self.assertIn("no longer true by the figures: Measured on GPT-2 medium", done.stderr)
        # But for the link to the results.
        self.assertEqual(self.page("policies.md").splitlines()[20:], before.splitlines()[20:])

    def test_bad_files_change_nothing(self):
        for run, message in (({"rows": []}, "is not what bench/train --json writes"),
                             ({"model": MODEL, "rows": [PLAIN]}, "needs a plain row and policies"),
                             ({"model": MODEL, "rows": [PLAIN, measured_row("tide", 2)], "broken": ["bits"]}, "broke a promise"),
                             ({"model": "other", "rows": [PLAIN, measured_row("tide", 2)]}, "has 0 tables that begin with '| other | '")):
            with self.subTest(message=message):
                before = self.results(), self.page("policies-measured.md")
                done = self.add(run)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)
                self.assertEqual((self.results(), self.page("policies-measured.md")), before)


if __name__ == "__main__":
    unittest.main()
