# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What bench/peers makes of its turns."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))
import rows  # noqa: E402

GIB = 2**30


def turn(mode, seconds, *, number=1, kind="eager", gib=1.0, **found):
    return {"kind": kind, "round": number, "model": "m", "mode": mode, "median_seconds": seconds,
            "allocated_peak_bytes": int(gib * GIB), "reserved_peak_bytes": int(gib * GIB), "losses": ["0x1"],
            "parameters": "a", "buffers": "b"} | found


def failed(mode, why):
    return {"kind": "eager", "round": 1, "model": "m", "mode": mode, "failure": why}


def cells(*turns):
    """The rows of the table by their titles."""
    record = {"machine": "x", "torch": "2.11", "commit": "", "command": "run", "sizes": {"m": {"batch": 1}}, "turns": turns}
    lines = [line.strip("| ").split(" | ") for line in rows.markdown(record) if line.startswith("| ")]
    return {line[0]: line[1:] for line in lines[1:]}


class PeersTest(unittest.TestCase):
    def test_ratio_is_to_plain_of_the_same_round_and_kind_of_process(self):
        table = cells(turn("plain", 1.0), turn("checkpoint", 1.5), turn("plain", 2.0, number=2),
                      turn("checkpoint", 3.2, number=2), turn("plain", 4.0, kind="compiled"),
                      turn("compile", 2.0, kind="compiled"))
        self.assertEqual(table["`torch.utils.checkpoint` around each block"][0], "1.550 (1.500..1.600)")
        self.assertEqual(table["`torch.compile`"][0], "0.500")
        self.assertEqual(table["plain"][0], "2000.0 ms")

    def test_memory_is_the_most_of_all_rounds_beside_plains(self):
        table = cells(turn("plain", 1.0, gib=2), turn("lowtide-60", 1.0, gib=1.1), turn("plain", 1.0, gib=2, number=2),
                      turn("lowtide-60", 1.0, gib=1.2, number=2))
        self.assertEqual(table["**Lowtide, 60 %**"][1:3], ["1.20 (60 %)", "1.20 (60 %)"])

    def test_a_bit_that_differs_in_any_round_is_told(self):
        table = cells(turn("plain", 1.0), turn("checkpoint", 1.0), turn("checkpoint", 1.0, number=2, buffers="c"))
        self.assertEqual(table["`torch.utils.checkpoint` around each block"][3], "buffers differ")

    def test_a_mode_that_failed_says_why(self):
        table = cells(turn("plain", 1.0), failed("lowtide-40", "OutOfMemoryError: an op needs 3 GiB"))
        self.assertEqual(table["**Lowtide, 40 %**"][0], "OutOfMemoryError: an op needs 3 GiB")

    def test_a_mode_that_failed_in_one_round_says_so_beside_the_others(self):
        table = cells(turn("plain", 1.0), failed("lowtide-40", "ended after 150 s"), turn("plain", 1.0, number=2),
                      turn("lowtide-40", 1.5, number=2))
        self.assertEqual(table["**Lowtide, 40 %**"][0], "1.500; 1 of 2 failed: ended after 150 s")

    def test_parts_of_a_measurement_are_one_table(self):
        shared = {"machine": "x", "device": "cuda", "torch": "2.11", "commit": "c", "sizes": {"m": {"batch": 1}}}
        parts = [shared | {"command": "one", "turns": [turn("plain", 1.0), turn("checkpoint", 1.5)]},
                 shared | {"command": "two", "turns": [turn("plain", 2.0), turn("save_on_cpu", 8.0)]}]
        table = cells(*rows.together(parts)["turns"])
        self.assertEqual(table["`save_on_cpu(pin_memory=True)`"][0], "4.000")
        self.assertEqual(table["`torch.utils.checkpoint` around each block"][0], "1.500")
        with self.assertRaisesRegex(ValueError, "differ in machine"):
            rows.together([parts[0], parts[1] | {"machine": "y"}])

    def test_bits_are_compared_with_plain_of_the_same_part(self):
        shared = {"machine": "x", "device": "cuda", "torch": "2.11", "commit": "c", "sizes": {"m": {"batch": 1}}}
        longer = {"losses": ["0x1", "0x2"], "parameters": "longer"}
        parts = [shared | {"command": "one", "turns": [turn("plain", 1.0), turn("lowtide-60", 1.1)]},
                 shared | {"command": "two", "turns": [turn("plain", 1.0, **longer), turn("lowtide-60", 1.1, **longer),
                                                       turn("save_on_cpu", 8.0, **longer), turn("checkpoint", 1.5)]}]
        table = cells(*rows.together(parts)["turns"])
        self.assertEqual(table["**Lowtide, 60 %**"][3], "the same")
        self.assertEqual(table["`save_on_cpu(pin_memory=True)`"][3], "the same")
        self.assertEqual(table["`torch.utils.checkpoint` around each block"][3], "losses, parameters differ")
        self.assertEqual(table["plain"][3], "–")  # nothing of its own part to compare it with

    def test_plain_of_several_rounds_is_compared_with_its_first(self):
        table = cells(turn("plain", 1.0), turn("plain", 1.0, number=2))
        self.assertEqual(table["plain"][3], "the same")
        table = cells(turn("plain", 1.0), turn("plain", 1.0, number=2, buffers="c"))
        self.assertEqual(table["plain"][3], "buffers differ")

    def test_promises(self):
        record = {"turns": [turn("plain", 1.0), turn("lowtide-60", 1.0, budget_bytes=GIB), turn("checkpoint", 1.0, losses=[])]}
        self.assertEqual(rows.broken_promises(record), [])
        record["turns"].append(turn("lowtide-60", 1.0, budget_bytes=GIB - 1, number=2))
        record["turns"].append(turn("lowtide-50", 1.0, budget_bytes=GIB, parameters="c"))
        record["turns"].append(turn("plain", 1.0, number=2, losses=[]))
        self.assertEqual(rows.broken_promises(record), [
            f"m lowtide-60, round 2: held {GIB} bytes within a budget of {GIB - 1}",
            "m lowtide-50, round 1: parameters differ from plain's", "m plain, round 2: losses differ from plain's"])


if __name__ == "__main__":
    unittest.main()
