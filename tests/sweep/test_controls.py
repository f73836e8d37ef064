# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The sweeps find what they look for: ops that misbehave in each of the ways are told apart."""

import itertools
import os
import unittest

import torch

import session
import sweeps
import workers

LIBRARY = torch.library.Library("lowtide_sweep", "DEF")
CALLS = itertools.count()


def define(schema, kernel):
    """An operator whose kernel the dispatcher calls below the interceptor."""
    LIBRARY.define(schema)
    name = schema.split("(")[0]
    LIBRARY.impl(name, kernel, "CPU")
    return getattr(torch.ops.lowtide_sweep, name).default


def write_secretly(x):
    out = x + 1
    x.mul_(2)
    return out


class Silent:
    """A pipe that nobody listens to."""

    def send(self, _):
        pass


class NotInList:
    """What the sweeps want to know of an op of torch's list."""
    supports_autograd = False

    def __init__(self, function):
        self._function = function

    def __call__(self, *arguments):
        return self._function(*arguments)

    def supported_dtypes(self, _):
        return {torch.float32}


class Controls(unittest.TestCase):
    def sweep(self, function):
        """The sweeps that find something, with what they say."""
        report = workers.Report(Silent())
        sample = ((torch.arange(6.0).reshape(2, 3),), {})
        sweeps.sweep_sample(NotInList(function), "control", sweeps.call_function, sample, None,
                            report)
        return dict(report.messages)

    def test_a_good_op_passes(self):
        good = define("good(Tensor x) -> Tensor", lambda x: x * 3)
        self.assertEqual({}, self.sweep(good))

    def test_a_secret_write_is_found(self):
        bad = define("writes(Tensor x) -> Tensor", write_secretly)
        self.assertIn("writes argument x without saying so", self.sweep(bad)["writes"])

    def test_a_known_write_passes(self):
        good = define("says_so(Tensor(a!) x) -> Tensor", write_secretly)
        self.assertEqual({}, self.sweep(good))
        self.assertEqual(session.WRITES, session.effect("lowtide_sweep::says_so", "", 0))

    def test_a_replay_with_other_bits_is_found(self):
        bad = define("differs(Tensor x) -> Tensor", lambda x: x + next(CALLS))
        self.assertIn("replay", self.sweep(bad))

    def test_a_reader_around_the_dispatcher_is_found(self):
        def bad(x):
            return x + float(x.numpy().sum())
        found = self.sweep(bad)
        for sweep in ("host", "recompute"):
            self.assertIn("the bytes of this tensor are evicted", found[sweep])

    def test_an_untold_use_of_random_numbers_is_found(self):
        bad = define("random(Tensor x) -> Tensor", lambda x: x + torch.rand(()))
        found = self.sweep(bad)
        self.assertIn("moves the random state", found["writes"])
        # Operators that are not torch's own are replayed from the states that they might draw from.
        self.assertNotIn("replay", found)

    def test_a_crash_ends_its_own_op_only(self):
        listed = {"crash": NotInList(lambda _: os.abort()), "good": NotInList(lambda x: x * 2)}
        for op in listed.values():
            op.inplace_variant, op.supports_out = None, False
            op.sample_inputs = lambda *_, **__: iter([Sample(torch.ones(3))])
        findings = workers.Crew(listed).run()
        self.assertEqual(2, findings.operators)
        self.assertEqual({("crash", "host"): ["sample 0, call_function: ended by signal 6"]},
                         dict(findings.messages))
        self.assertEqual({"call_function": 1}, dict(findings.samples))


class Sample:
    """One entry of sample_inputs()."""
    args, kwargs = (), {}

    def __init__(self, tensor):
        self.input = tensor


if __name__ == "__main__":
    unittest.main()
