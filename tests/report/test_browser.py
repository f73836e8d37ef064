# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Reports in a real browser: they load without a request or an error, and everything reacts."""

import json
import pathlib
import subprocess
import unittest

from pythons import HOSTILE, HOSTILE_WORD, TRACES, ProgramTest, browser, machine_of, online_run, python_with

PYTHON = python_with("playwright")
WHITE = "rgb(255, 255, 255)"
MOST_BYTES = 1_000_000
SECTIONS = ["advice", "memory", "lanes", "peak", "storages", "prices", "policies"]


@unittest.skipUnless(browser() and PYTHON, "no chromium or no playwright here: run tools/setup browser")
class Browser(ProgramTest):
    def look(self, page):
        self.assertLess((self.folder / page).stat().st_size, MOST_BYTES)
        script = pathlib.Path(__file__).with_name("look.py")
        done = subprocess.run([PYTHON, script, browser(), self.folder / page], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_plan_for_a_recorded_step(self):
        self.succeed("report", str(TRACES / "unet.trace"), "-b", "60%", "-o", "report.html", "--think", "2")
        seen = self.look("report.html")
        self.assert_alone(seen)
        self.assertEqual(seen["basis"], "simulated")
        self.assertEqual(seen["sections"], SECTIONS)
        for word in ("together", "activation", "op "):
            self.assertIn(word, seen["memory_tip"])
        self.assertIn("µs", seen["lane_tip"] + seen["memory_tip"])
        self.assertIn("over plain", seen["price_tip"])
        self.assertTrue(seen["tip_is_gone"])
        self.assert_zooms(seen)
        self.assertEqual(seen["shown_by"], {"all": ["Before", "After"], "before": ["Before"], "after": ["After"]})
        self.assertTrue(seen["kind_can_be_hidden"])
        self.assertEqual((seen["sorted"], seen["sorted_again"]), ("descending", "ascending"))
        self.assertTrue(seen["sort_changes_rows"])
        self.assertGreater(seen["rows"], 10)
        self.assertEqual(seen["filter_leaves"], 0)

    def assert_alone(self, seen):
        """Nothing but the page itself was asked for, nothing went wrong, and nothing else may run."""
        self.assertEqual(seen["errors"], [])
        self.assertEqual(seen["console_before_injection"], 0, seen["console"])
        self.assertEqual({url.partition("://")[0] for url in seen["requests"]}, {"file"}, seen["requests"])
        self.assertEqual(len(seen["requests"]), 3, "the page, light, dark and on a phone")
        self.assertEqual(seen["phone_width"], 390, "nothing stands out to the right")
        self.assertFalse(seen["injected"], "the policy lets only the page's own script run")
        self.assertNotEqual(seen["display"], "none", "and only its own styles count")
        light, first, second, third = seen["themes"]
        self.assertEqual((light, first, third), (WHITE, WHITE, WHITE))
        self.assertNotEqual(second, WHITE)
        self.assertEqual(seen["dark"], second)
        self.assertEqual(seen["print"], WHITE, "paper is white")
        self.assertTrue(seen["print_hides_controls"])
        self.assertGreater(seen["pdf_bytes"], 10000)

    def assert_zooms(self, seen):
        self.assertGreater(seen["zoom_by_drag"], 3)
        self.assertTrue(seen["axis_changed"])
        self.assertGreater(seen["zoom_by_button"], seen["zoom_by_drag"])
        self.assertEqual(seen["zoom_reset"], 1)
        self.assertGreater(seen["zoom_by_key"], 1)

    def test_a_run_under_the_online_rule(self):
        self.write("run.json", json.dumps(online_run()))
        self.succeed("report", "run.json", "-o", "report.html", "--think", "1")
        seen = self.look("report.html")
        self.assert_alone(seen)
        self.assertEqual(seen["basis"], "prediction")
        self.assertEqual(seen["sections"], [*SECTIONS, "run"])
        self.assertEqual(list(seen["charts"]), ["Before", "The run", "After"])
        self.assertEqual(seen["charts"]["Before"], "peak 11.0 MiB")
        self.assertEqual(seen["charts"]["The run"], "peak 8.00 MiB", "without a1, a2 and a3")
        self.assertEqual(seen["cards"]["peak, the run"], "8.00 MiB")
        self.assertEqual(seen["shown_by"], {"all": list(seen["charts"]), "before": ["Before"], "run": ["The run"],
                                            "after": ["After"]})
        self.assert_zooms(seen)
        self.assert_told(seen, "a1", "moved",
                         "unused for 3 s when room was needed; moving was taken to cost 2 s, recomputing 7 s")
        self.assert_told(seen, "a2", "recomputed",
                         "unused for 4 s when room was needed; recomputing 1 s; running again took 1 s")
        self.assert_told(seen, "a3", "moved", "a plan had begun to move it; the rule did not choose it")
        self.assert_told(seen, "a4", "kept",
                         "idle for 5 s at most; others were cheaper for their size, or longer unused")

    def assert_told(self, seen, storage, deed, reason):
        row = next(row for row in seen["storages"] if row[0] == storage)
        self.assertEqual((row[4], row[-1].replace("\u00a0", " ")), (deed, reason))

    def test_hostile_names_stay_names(self):
        self.write("run.json", json.dumps(self.hostile_run()))
        self.succeed("report", "run.json", "-o", "report.html", "--think", "1")
        seen = self.look("report.html")
        self.assert_alone(seen)
        self.assertEqual((seen["images"], seen["scripts"], seen["dialogs"]), (0, 2, 0))
        self.assertEqual(seen["heading"], HOSTILE)
        self.assertEqual(seen["title"], HOSTILE + " - Lowtide report")
        self.assertIn(HOSTILE_WORD, seen["memory_tip"])

    def hostile_run(self):
        """The record of a small step, every name in it hostile."""
        step = {"format": "lowtide-trace", "version": 1, "name": HOSTILE_WORD, "storages": [], "ops": []}
        for i, kind in enumerate(("parameter", "input", "activation", "activation", "activation")):
            stays = kind in ("parameter", "input")
            step["storages"].append({"name": f"{HOSTILE_WORD}{i}", "bytes": 100, "kind": kind, "start": stays,
                                     "end": stays, "layer": HOSTILE_WORD})
        for phase, reads, writes in (("forward", [0, 1], [2]), ("forward", [2], [3]), ("forward", [3], [4]),
                                     ("backward", [2, 4], [1])):
            step["ops"].append({"name": HOSTILE_WORD, "phase": phase, "layer": HOSTILE_WORD, "reads": reads,
                                "writes": writes, "device_seconds": 1})
        machine = machine_of(HOSTILE_WORD, 1000)
        return {"format": "lowtide-run", "version": 1, "title": HOSTILE, "device": HOSTILE, "policy": HOSTILE,
                "budget_bytes": 450, "trace": step, "machine": machine, "plan": None,
                "statistics": {HOSTILE: HOSTILE, "steps": 3}, "step_seconds": [1, 2, 3]}


if __name__ == "__main__":
    unittest.main()
