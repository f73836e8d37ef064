# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""How bench/ctdr goes on where a call ended, and what it makes of its rows."""

import contextlib
import importlib
import io
import json
import pathlib
import runpy
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bench" / "ctdr"
MIB = 2**20


class Modules(unittest.TestCase):
    """Each bench has modules of its own with the same names, so they are not kept."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        sys.path.insert(0, str(FOLDER))
        self.before = set(sys.modules)
        self.addCleanup(self.forget)

    def forget(self):
        sys.path.remove(str(FOLDER))
        for name in set(sys.modules) - self.before:
            del sys.modules[name]


def curve(plain_ms, budgets):
    """A row of `compare --measure`: milliseconds by MiB, None where it was refused."""
    return {"plain_peak_bytes": 100 * MIB, "plain_step_seconds": plain_ms / 1000, "identical": True,
            "budgets": [{"budget_bytes": int(mib * MIB), "refused": ms is None,
                         **({} if ms is None else {"step_seconds": ms / 1000})}
                        for mib, ms in budgets.items()]}


def peak(mib, planned=None):
    kinds = {"parameter": 10 * MIB, "activation": (mib - 10) * MIB}
    row = {"plain_peak_bytes": mib * MIB, "peak_bytes_by_kind": kinds, "budget_bytes": 40 * MIB}
    if planned is None:
        return row | {"smallest_plan_bytes": 60 * MIB}
    return row | {"planned_peak_bytes": planned * MIB,
                  "planned_bytes_by_kind": {"parameter": 10 * MIB, "activation": (planned - 10) * MIB}}


def tuned(**found):
    return {"parameters": 500, "accuracy_before": 0.8, "accuracy_after_decomposition": 0.4,
            "accuracy_after_fine_tuning": 0.79, "loss_before": 1.5, "loss_after_decomposition": 2.5,
            "loss_after_fine_tuning": 1.625, "fine_tuning_seconds": 3.25, "raises": 1,
            "peak_bytes": 40 * MIB} | found


NET = {
    "choice": {"plain": {"peak_bytes": 100 * MIB},
               "ctdr": {"layers": {"fc": "svd 8", "conv": "dense"}, "budget_bytes": 40 * MIB,
                        "reasons": {"fc": "half the time", "conv": "does not pay"}}},
    "accuracy, seed 1": {"plain": {"accuracy": 0.8, "evaluation_loss": 1.5, "peak_bytes": 90 * MIB},
                         "plain, further epochs": {"accuracy": 0.85, "evaluation_loss": 1.4,
                                                   "peak_bytes": 90 * MIB},
                         "ctdr": tuned(), "svd alone": tuned(),
                         "cp3 alone": {"refused": "exit 1: cp is degenerate"}},
    "accuracy, seed 2": {"plain": {"accuracy": 0.84, "evaluation_loss": 1.25, "peak_bytes": 90 * MIB}},
    "memory": {"dense, peak": peak(100, 40), "svd alone, peak": peak(110),
               "dense, turn 1, budgets 1": curve(10, {95: 11, 80: 12, 70: 13}),
               "dense, turn 2, budgets 1": curve(12, {95: 13, 80: 14, 70: 15}),
               "dense, turn 1, budgets 2": curve(10, {60: 20, 50: None, 40: None}),
               "svd alone, turn 1, budgets 1": {"refused": "exit 3: no room"},
               "ctdr, turn 1": curve(6, {40: 8}) | {"plain_peak_bytes": 60 * MIB},
               "ctdr, largest batch": {"plain": {"batch": 9}, "managed": None, "budget_bytes": MIB},
               "dense, largest batch": {"plain": None, "managed": {"batch": 7}, "budget_bytes": MIB},
               "dense, smallest budget": {"budget_bytes": 35 * MIB}}}


class Tables(Modules):
    def test_rows_become_tables_and_a_picture(self):
        file = self.folder / "results.json"
        file.write_text(json.dumps({"facts": [], "nets": {"tiny": NET, "empty": {}}}), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            sys.argv = ["tables", str(file), "--plots", str(self.folder)]
            runpy.run_path(str(FOLDER / "tables"), run_name="__main__")
        lines = printed.getvalue().splitlines()
        self.assertIn("- `fc`: svd 8; half the time", lines)
        self.assertIn("| svd alone | 500 | 80.0 | 40.0 | 79.0 | 1.500 | 2.500 | 1.625 | 3.2 | 1 | 40.0 |", lines)
        self.assertIn("| cp3 alone | exit 1: cp is degenerate |", lines)
        self.assertIn("| dense | plain | 100.0 | 10.0 | 0.0 | 0.0 | 0.0 | 90.0 | 0.0 | 0.0 |", lines)
        self.assertIn("|  | planned for 40.0 | 40.0 | 10.0 | 0.0 | 0.0 | 0.0 | 30.0 | 0.0 | 0.0 |", lines)
        self.assertIn("|  | planned for 40.0: no plan below 60.0 |", lines)
        self.assertIn("| svd alone | exit 3: no room |", lines)
        self.assertIn("| variant | plain peak MiB | plainly | 95 %, 95.0 MiB | 80 %, 80.0 MiB | 70 %, 70.0 MiB "
                      "| 60 %, 60.0 MiB | 50 %, 50.0 MiB | 40 %, 40.0 MiB | smallest budget MiB "
                      "| largest batch plain / managed |", lines)
        self.assertIn("| dense | 100.0 | 10.0 (10.0..12.0) | 12.0 (11.0..13.0) | 13.0 (12.0..14.0) "
                      "| 14.0 (13.0..15.0) | 20.0 (20.0..20.0) | refused | refused | 35.0 "
                      "| 0 / 7 in 1.0 MiB |",
                      lines)
        self.assertIn("| ctdr | 60.0 | 6.0 (6.0..6.0) |  |  |  |  |  | 8.0 (8.0..8.0) |  "
                      "| 9 / not looked for in 1.0 MiB |", lines)
        self.check_summary(lines)
        picture = xml.etree.ElementTree.parse(self.folder / "ctdr-tiny.svg").getroot()
        curves = [line for line in picture.iter("{http://www.w3.org/2000/svg}polyline")]
        # The plain step, and the budgets that were kept.
        self.assertEqual([5, 2], [len(line.get("points").split()) for line in curves])
        self.assertFalse((self.folder / "ctdr-empty.svg").exists())
        self.check_bars(xml.etree.ElementTree.parse(self.folder / "ctdr-memory-tiny.svg").getroot())

    def check_summary(self, lines):
        """Means over seeds with their least and most; what was trained on has its own column."""
        self.assertIn("| tiny | plainly | 10.0 (10.0..12.0) | 6.0 (6.0..6.0) | 82.0 (80.0..84.0) | 85.0 "
                      "| 79.0 |", lines)
        self.assertIn("|  | 40.0 MiB | refused | 8.0 (8.0..8.0) |  |  |  |", lines)
        self.assertIn("| plain, further epochs |  |  |  | 85.0 |  |  | 1.400 |  |  | 90.0 |", lines)

    def check_bars(self, picture):
        """Two variants, plainly and planned, one of which has no plan; two kinds in each of the others."""
        space = "{http://www.w3.org/2000/svg}"
        sizes = [rectangle.findtext(f"{space}title") for rectangle in picture.iter(f"{space}rect")
                 if rectangle.find(f"{space}title") is not None]
        self.assertEqual(["activation: 90.0 MiB", "parameter: 10.0 MiB", "activation: 30.0 MiB",
                          "parameter: 10.0 MiB", "activation: 100.0 MiB", "parameter: 10.0 MiB"], sizes)
        words = [word.text for word in picture.iter(f"{space}text")]
        self.assertIn("no plan below 60.0 MiB", words)
        self.assertIn("MiB at the peak; the line: the budget, 40.0 MiB", words)

    def test_a_cell_has_the_least_and_the_most_of_its_rounds(self):
        row = curve(10, {40: 15}) | {"plain_step_seconds_by_round": [0.008, 0.012]}
        row["budgets"][0]["ratios"] = [1.25, 2]
        parts = importlib.import_module("parts")
        for budget, expected in ((0, (0.01, 0.008, 0.012)), (40 * MIB, (0.017, 0.01, 0.024))):
            found = parts.step_seconds({"dense, turn 1": row}, "dense", budget)
            for value, wanted in zip(found, expected, strict=True):
                self.assertAlmostEqual(wanted, value)

    def test_every_result_that_is_kept_can_be_printed(self):
        for file in sorted((FOLDER.parent / "results").glob("*-ctdr-*.json")):
            with self.subTest(file.name):
                done = subprocess.run([FOLDER / "tables", file, "--plots", self.folder], text=True,
                                      capture_output=True, check=False)
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                self.assertIn("###", done.stdout)


    def test_what_was_simulated_can_be_printed_and_drawn(self):
        file, = (FOLDER.parent / "results").glob("*-simulated-ctdr.json")
        done = subprocess.run([FOLDER / "simulate", "--save", file, "--program", "none", "--plots", self.folder],
                              text=True, capture_output=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        nets = json.loads(file.read_text(encoding="utf-8"))["nets"]
        self.assertEqual(len(nets), done.stdout.count("### "))
        dense, = (line for line in done.stdout.splitlines() if "| dense | 0 of 121" in line)
        self.assertIn("| 15.4 |", dense)
        for net in nets:
            picture = xml.etree.ElementTree.parse(self.folder / f"ctdr-simulated-{net}.svg").getroot()
            self.assertEqual(6, len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))))


class Clock:
    """Stands for the program: a hundred seconds are left."""
    lanes = 0

    def seconds_left(self):
        return 100

    def share_processors(self, lanes):
        self.lanes = lanes


class Resuming(Modules):
    def setUp(self):
        super().setUp()
        import parts  # pylint: disable=import-outside-toplevel,import-error
        import program  # pylint: disable=import-outside-toplevel,import-error
        import results  # pylint: disable=import-outside-toplevel,import-error
        self.parts, self.program, self.results = parts, program, results
        self.made = []

    def open(self):
        return self.results.Results(self.folder / "results.json", {"device": "cpu"})

    def piece(self, row, make=None, seconds=10, kind="sizes"):
        def made():
            self.made.append(row)
            return make() if make else {"figure": row}
        return self.parts.Piece("tiny", "memory", row, seconds, made, kind)

    def test_a_row_is_there_for_the_next_call_and_a_missing_one_is_not(self):
        results = self.open()
        results.measure(self.piece("one"))
        def wait():
            raise self.program.Missing("another")
        with self.assertRaises(self.program.Missing):
            results.measure(self.piece("two", wait))
        again = self.open()
        self.assertTrue(again.has(self.piece("one")))
        self.assertFalse(again.has(self.piece("two")))
        self.assertEqual("one", again.rows("tiny", "memory")["one"]["figure"])

    def test_a_refusal_is_a_row_that_can_be_tried_again(self):
        results = self.open()
        def refuse():
            raise self.program.Failed("exit 3: no room")
        results.measure(self.piece("one", refuse))
        self.assertEqual("exit 3: no room", self.open().rows("tiny", "memory")["one"]["refused"])
        self.assertTrue(self.open().has(self.piece("one")))
        self.assertFalse(self.open().has(self.piece("one"), may_be_refused=False))

    def test_rows_that_are_forgotten_are_measured_anew_and_no_others(self):
        results = self.open()
        for row in ("ctdr, turn 1", "ctdr, peak", "dense, turn 1"):
            results.measure(self.piece(row))
        self.assertEqual([], results.forget("gpt, *"))
        self.assertEqual(["tiny, memory: ctdr, turn 1"], results.forget("tiny, *: ctdr, turn*"))
        again = self.open()
        self.assertEqual([False, True, True],
                         [again.has(self.piece(row)) for row in ("ctdr, turn 1", "ctdr, peak", "dense, turn 1")])

    def test_predictions_are_corrected_by_what_was_measured(self):
        results = self.open()
        self.assertEqual(10, results.predicted_seconds(self.piece("one")))
        for net, kind, seconds in (("other", "sizes", 20), ("tiny", "curves", 90)):
            results.rows(net, "choice")["plain"] = {"piece_seconds": seconds, "guessed_seconds": 10, "kind": kind}
        self.assertEqual(20, results.predicted_seconds(self.piece("one")))
        results.rows("tiny", "memory")["plain"] = {"piece_seconds": 30, "guessed_seconds": 10, "kind": "sizes"}
        self.assertEqual(30, results.predicted_seconds(self.piece("one")))

    def test_a_row_that_would_not_be_done_is_left_to_the_next_call(self):
        run = runpy.run_path(str(FOLDER / "run"))
        results = self.open()
        results.predicted_seconds = lambda piece: piece.seconds
        call = run["Call"](results, Clock())
        with contextlib.redirect_stderr(io.StringIO()):
            for line in ([("long", 500), ("short", 50), ("long too", 500), ("needs it", 50)],
                         [("of another line", 50)]):
                call.measure([self.piece(row, seconds=seconds) for row, seconds in line], lanes=1)
        self.assertEqual(["long", "short", "of another line"], self.made)
        self.assertTrue(call.is_over)

    def test_lanes_run_beside_each_other_and_what_is_timed_alone(self):
        run = runpy.run_path(str(FOLDER / "run"))
        both = threading.Barrier(2, timeout=30)
        stage = [self.piece(row, make) for row, make in (
            ("one", None), ("two", lambda: {"met": both.wait()}), ("three", lambda: {"met": both.wait()}))]
        results, clock = self.open(), Clock()
        with contextlib.redirect_stderr(io.StringIO()):
            run["Call"](results, clock).measure_stage(stage, lanes=2)
        self.assertEqual({"one", "two", "three"}, set(self.open().rows("tiny", "memory")))
        self.assertEqual(2, clock.lanes)
        with contextlib.redirect_stderr(io.StringIO()):
            run["Call"](results, clock).measure_stage([self.piece("timed", kind="curves")], lanes=2)
        self.assertEqual(1, results.rows("tiny", "memory")["timed"]["lanes"])

    def test_rows_that_the_claims_are_about_come_first(self):
        run = runpy.run_path(str(FOLDER / "run"))
        nets = importlib.import_module("nets")
        arguments = type("Arguments", (), {
            "nets": list(nets.FULL), "known": nets.FULL, "work": self.folder, "seeds": "", "turns": 1,
            "part": run["KINDS"], "retry": False, "claims": False})()
        lowtide = self.program.Lowtide("none", "cuda", 0, self.folder)
        stages = list(run["stages_of"](arguments, lowtide, self.open()))
        first = [{(piece.net, piece.kind) for piece in stage} for stage in stages[:5]]
        claimed = nets.GROUPS[0]
        kinds = ("choice", "accuracy", "accuracy", "curves", "sizes")
        self.assertEqual([{(net, kind) for net in claimed} for kind in kinds], first)
        rows = [piece for stage in stages for piece in stage]
        self.assertEqual(len(rows), len({(piece.net, piece.part, piece.row) for piece in rows}))
        self.assertEqual(set(nets.FULL), {piece.net for piece in rows})
        arguments.claims = True
        self.assertEqual(5, len(list(run["stages_of"](arguments, lowtide, self.open()))))


if __name__ == "__main__":
    unittest.main()
