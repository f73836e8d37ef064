# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide report`: what it writes beside the page, read by those for whom it is written; bad input."""

import csv
import importlib.util
import io
import json
import pickle
import pickletools
import re
import unittest

from pythons import DOES_NOT_FIT, FAILED, ROOT, TRACES, USAGE, ProgramTest, online_run

UNIT = ("--machine", "unit")


def memory_viz():
    """PyTorch's own reader of snapshots, loaded by itself: importing torch takes seconds. None without."""
    for path in sorted(ROOT.glob(".venv/lib/python3*/site-packages/torch/cuda/_memory_viz.py")):
        spec = importlib.util.spec_from_file_location("memory_viz", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return None


class Exports(ProgramTest):
    def report(self, *options):
        return json.loads(self.succeed("report", str(TRACES / "unet.trace"), "-b", "60%", "--think", "1", "--json",
                                       *options))

    def test_summary_names_peak_prices_and_policies(self):
        summary = self.report("-o", "report.html")
        page = (self.folder / "report.html").read_bytes()
        self.assertEqual(summary["report_bytes"], len(page))
        self.assertLess(len(page), 1_000_000)
        self.assertEqual(summary["basis"], "simulated")
        self.assertLessEqual(summary["peak_bytes"], summary["budget_bytes"])
        self.assertGreater(len(summary["prices"]), 3)
        self.assertIn("capuchin", [row["policy"] for row in summary["policies"]])
        self.assertTrue(all(row["title"] and row["reason"] for row in summary["advice"]))

    def test_csv_has_both_steps_with_the_peaks(self):
        summary = self.report("--csv", "step.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("step.csv"))))
        peak = {which: max(int(row["total_bytes"]) for row in rows if row["step"] == which)
                for which in ("plain", "planned")}
        self.assertEqual(peak, {"plain": summary["plain_peak_bytes"], "planned": summary["peak_bytes"]})

    def test_chrome_trace_is_that_of_simulate(self):
        self.succeed("plan", str(TRACES / "mlp.trace"), "-b", "99%", "-o", "p.plan")
        self.succeed("simulate", str(TRACES / "mlp.trace"), "p.plan", "--chrome", "a.json")
        self.succeed("report", str(TRACES / "mlp.trace"), "--plan", "p.plan", "--chrome-trace", "b.json", "--think", "1")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def test_memory_snapshot_is_a_pickle_of_plain_things(self):
        summary = self.report("--memory-snapshot", "step.pickle")
        data = (self.folder / "step.pickle").read_bytes()
        opcodes = {opcode.name for opcode, _, _ in pickletools.genops(data)}
        # What the viewer, which unpickles in the browser, knows; nothing that could run anything.
        self.assertLessEqual(opcodes, {"PROTO", "EMPTY_DICT", "EMPTY_LIST", "MARK", "BINUNICODE", "BININT", "LONG1",
                                       "APPENDS", "SETITEMS", "NEWTRUE", "NEWFALSE", "NONE", "STOP"})
        held = most = 0
        for event in pickle.loads(data)["device_traces"][0]:
            held += {"alloc": 1, "free_completed": -1}.get(event["action"], 0) * event["size"]
            most = max(most, held)
        self.assertEqual(most, summary["peak_bytes"])

    @unittest.skipUnless(memory_viz(), "no torch here to read the snapshot: run tools/setup torch")
    def test_memory_snapshot_is_read_by_pytorchs_own_code(self):
        self.report("--memory-snapshot", "step.pickle")
        viz = memory_viz()
        snapshot = pickle.loads((self.folder / "step.pickle").read_bytes())
        events = snapshot["device_traces"][0]
        self.assertRegex(viz.segsum(snapshot), r"segments: 1\ntotal_reserved: ")
        text = viz.trace(snapshot)
        self.assertIn(f"{len(events)} entries", text)
        allocations = re.findall(r"^\w+ = (?:seg_0|MEM)\[", text, re.MULTILINE)
        self.assertEqual(len(allocations), sum(event["action"] == "alloc" for event in events))
        for kind in (viz.segments, viz.memory):
            lines = kind(snapshot, format_flamegraph=lambda flame: flame).splitlines()
            self.assertTrue(any("active_allocated" in line for line in lines))
        self.assertIn("Active Memory Timeline", viz.trace_plot(snapshot))
        self.assertIn("base64", viz.segment_plot(snapshot))
        left = viz.filter_alloc_free_pairs(snapshot)["device_traces"][0]
        self.assertEqual({event["action"] for event in left}, {"alloc"})
        active = sum(block["size"] for block in snapshot["segments"][0]["blocks"]
                     if block["state"] == "active_allocated")
        self.assertEqual(sum(event["size"] for event in left), active)


class BadInput(ProgramTest):
    def test_usage(self):
        cases = [
            (("step.trace",), "nothing to write; name the page with -o report.html"),
            (("step.trace", "-o", "a.html", "-p", "dtr"), "--policy needs --budget"),
            (("step.trace", "-o", "a.html", "-b", "60%", "--plan", "x", "-p", "dtr"), "exclude each other"),
            (("step.trace", "-o", "-", "--json"), "only one thing can go to standard output"),
            (("step.trace", "--memory-snapshot", "-"), "writes bytes, not text"),
            (("step.trace", "-o", "a.html", "-b", "lots"), "not a size: 'lots'"),
            ((), "RUN is required"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, "report", *arguments))
        self.assertEqual(self.names(), ["step.trace"])

    def test_files(self):
        self.write("empty.json", "")
        self.write("cut.json", '{"format": "lowtide-run", "version": 1')
        self.write("new.json", '{"format": "lowtide-run", "version": 7}')
        self.write("half.json", '{"format": "lowtide-run", "version": 1, "title": "x"}')
        self.write("none.trace", "lowtide-trace 1\nname none\n")
        for name, message in (("missing.json", "cannot read missing.json: No such file"),
                              ("empty.json", "empty.json is empty; give the record of a run, or a trace"),
                              ("cut.json", "cut.json: not valid JSON"),
                              ("new.json", "lowtide-run version 7 is not known to this build, which reads version 1"),
                              ("half.json", "run.device: expected this field"),
                              ("none.trace", "a step without ops")):
            with self.subTest(name=name):
                self.assertIn(message, self.fail_with(FAILED, "report", name, "-o", "a.html"))
        self.assertIn("nowhere", self.fail_with(FAILED, "report", "step.trace", "-o", "nowhere/a.html"))
        self.assertNotIn("a.html", self.names())

    def test_records_that_are_none(self):
        whole = json.dumps(online_run())
        cases = [(whole[:size], "not valid JSON") for size in (40, len(whole) // 2, len(whole) - 1)]
        cases += [(json.dumps({**online_run(), **change}), fault) for change, fault in (
            ({"trace": {}}, 'expected "format": "lowtide-trace"'),
            ({"online": [{"do": "forget\n", "storage": 4, "op": 5}]}, "run.online[0].do: expected drop, move"),
            ({"online": [{"do": "move", "storage": 400, "op": 5}]}, "online[0].storage: expected a number below 11"),
            ({"budget_bytes": 10**30}, "run.budget_bytes: expected a whole number"))]
        # Deeper than any stack.
        cases.append(('{"format": "lowtide-run", "version": 1, "title": ' + 1_000_000 * "[", "not valid JSON"))
        for text, fault in cases:
            with self.subTest(text=text[:60], fault=fault):
                self.write("run.json", text)
                self.assertIn(fault, self.fail_with(FAILED, "report", "run.json", "-o", "a.html"))
        self.assertNotIn("a.html", self.names())

    def test_a_title_does_nothing_to_the_terminal(self):
        self.write("run.json", json.dumps({**online_run(), "title": "a\x1b[31mb\nc" + 500 * "d"}))
        told = self.succeed("report", "run.json", "-o", "a.html", "--think", "1")
        self.assertRegex(told.splitlines()[0], r"^step +a \[31mb cd{,160}\.\.\.$")
        self.assertEqual(len(told.splitlines()), 4)

    def test_a_budget_far_too_small_says_what_would_do(self):
        message = self.fail_with(DOES_NOT_FIT, "report", "step.trace", *UNIT, "-b", "7", "-o", "a.html")
        self.assertRegex(message, r"no plan of tide fits 7 B: .* the smallest budget for tide is \d+ B")
        self.assertNotIn("a.html", self.names())

    def test_a_record_has_its_own_budget(self):
        self.write("run.json", '{"format": "lowtide-run", "version": 1}')
        self.assertIn("leave --budget", self.fail_with(USAGE, "report", "run.json", "-o", "a.html", "-b", "60%"))


if __name__ == "__main__":
    unittest.main()
