# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Every op of torch's own list, in sessions that evict everything, against plain torch.

LT_SWEEP_SAMPLES=50 goes deeper than the few samples of an op that are the default;
LT_SWEEP_OPS="add svd" looks at some ops only.
"""

import os
import unittest

import exceptions
import samples
import sweeps
import workers

NAMES = os.environ.get("LT_SWEEP_OPS", "").split()


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.findings = workers.sweep(NAMES)
        cls.expected = {(op, sweep) for op, sweep, _ in exceptions.EXCEPTIONS}
        print(f"\n{cls.findings.operators} ops, {dict(cls.findings.samples)} samples, "
              f"{len(cls.findings.reached)} overloads underneath, {len(cls.expected)} exceptions; "
              f"{dict(cls.findings.counts)}")

    def check(self, sweep):
        """Fails for each op that does not pass the sweep and has no row in the table."""
        failures = {op: messages for (op, which), messages in self.findings.messages.items()
                    if which == sweep and (op, which) not in self.expected}
        lines = [f"{op}: {messages[0]} ({len(messages)} in all)"
                 for op, messages in sorted(failures.items())]
        self.assertFalse(lines, "\n" + "\n".join(lines))

    def test_ops_survive_moves_of_everything_to_the_host(self):
        self.check("host")

    def test_ops_survive_drops_of_everything(self):
        self.check("recompute")

    def test_replays_give_the_same_bits(self):
        self.check("replay")

    def test_nothing_is_written_without_being_known(self):
        self.check("writes")

    @unittest.skipIf(NAMES, "only some ops are looked at")
    def test_known_hidden_writes_are_still_writes(self):
        self.assertTrue(self.findings.hidden)
        self.assertFalse(self.findings.hidden - self.findings.changed, "never seen to be written")

    @unittest.skipIf(NAMES, "only some ops are looked at")
    def test_most_of_the_list_was_compared(self):
        self.assertGreater(self.findings.operators, 600)
        most = 600 * min(samples.SAMPLES, samples.DEFAULT_SAMPLES) // 2
        self.assertGreater(self.findings.samples["call_function"], most)

    @unittest.skipIf(NAMES, "only some ops are looked at")
    def test_sessions_evicted(self):
        counts = self.findings.counts
        for what in ("drops", "moves", "recomputes"):
            self.assertGreater(counts[what], 10 * self.findings.operators, counts)

    def test_each_op_was_moved_and_replayed(self):
        """Or else the sweeps say nothing of it."""
        for what, known in (("moves", exceptions.NEVER_MOVED),
                            ("recomputes", exceptions.NEVER_REPLAYED)):
            idle = {op for op, counts in self.findings.counts_of.items() if not counts[what]}
            with self.subTest(what):
                self.assertFalse(sorted(idle - set(known)), f"no {what} at all")
            stale = set(known) & set(self.findings.counts_of) - idle
            self.assertFalse(sorted(stale), f"{what} are seen now; remove them from exceptions.py")

    @unittest.skipIf(NAMES or samples.SAMPLES != samples.DEFAULT_SAMPLES, "other samples are tried")
    def test_every_exception_is_needed(self):
        stale = sorted(self.expected - set(self.findings.messages))
        self.assertFalse(stale, "these pass now; remove their rows from exceptions.py")

    def test_exceptions_name_a_sweep_and_a_reason(self):
        for op, sweep, reason in exceptions.EXCEPTIONS:
            self.assertIn(sweep, sweeps.SWEEPS, op)
            self.assertTrue(reason, op)
        self.assertEqual(len(self.expected), len(exceptions.EXCEPTIONS), "a row is there twice")


if __name__ == "__main__":
    unittest.main()
