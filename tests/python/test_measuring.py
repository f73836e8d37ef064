# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""verify(), trace(), max_batch() and the report."""

import collections
import functools
import json
import pathlib
import tempfile
import unittest

import torch

import lowtide


def net(width=256):
    torch.manual_seed(1)
    return torch.nn.Sequential(*[layer for _ in range(4) for layer in (
        torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Dropout(0.1))])


def make_step(batch, model=None):
    model = model or net()
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = model(torch.randn(batch, 256)).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


class Verify(unittest.TestCase):
    def test_a_step_is_identical_under_a_budget_and_all_is_as_before(self):
        model = net()
        before = {key: value.clone() for key, value in model.state_dict().items()}
        generator = torch.get_rng_state()
        verdict = lowtide.verify(make_step(512, model), "6MiB", device="cpu")
        self.assertTrue(verdict, verdict.difference)
        self.assertGreater(verdict.stats["evictions"], 0)
        for key, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, before[key]))
        self.assertTrue(torch.equal(torch.get_rng_state(), generator))

    def test_the_first_difference_is_told(self):
        model = net()
        step, calls = make_step(64, model), []

        def drifting():
            calls.append(None)
            loss = step()
            if len(calls) == 5:  # The second step within the budget.
                with torch.no_grad():
                    model[3].bias[7] += 1
            return loss

        verdict = lowtide.verify(drifting, "1GiB", device="cpu")
        self.assertFalse(verdict)
        self.assertRegex(verdict.difference, r"^step 2: Sequential\d\.3\.bias\[7\]: .* plainly")

    def test_a_difference_in_bits_alone_is_told(self):
        nan = torch.tensor([0x7fc00001], dtype=torch.int32).view(torch.float32)
        for plain, managed, expected in (
                (0.0, -0.0, r"weight\[2, 1\]: 0\.0 plainly, -0\.0 within"),
                (torch.tensor(float("nan")), nan[0],
                 r"weight\[2, 1\]: nan \(0x7fc00000\) plainly, nan \(0x7fc00001\) within")):
            model, calls = torch.nn.Linear(3, 4), []

            def step(model=model, calls=calls, plain=plain, managed=managed):
                calls.append(None)
                with torch.no_grad():
                    model.weight[2, 1] = plain if len(calls) == 1 else managed

            verdict = lowtide.verify(step, "1GiB", device="cpu", steps=1, state=[model])
            self.assertFalse(verdict)
            self.assertRegex(verdict.difference, expected)

    def test_another_shape_is_told(self):
        for sizes in ((0, 3), (3, 0)):
            holder, rest = torch.nn.BatchNorm1d(3), list(sizes)

            def step(rest=rest):
                return torch.ones(rest.pop(0))

            verdict = lowtide.verify(step, "1GiB", device="cpu", steps=1, state=[holder])
            self.assertEqual(verdict.difference, "step 1: loss has another shape or type")

    def test_a_share_is_in_force_for_as_many_steps_as_asked_for(self):
        verdict = lowtide.verify(make_step(512), "60%", device="cpu", steps=1)
        self.assertTrue(verdict, verdict.difference)
        self.assertEqual(verdict.steps, 3)
        self.assertGreater(verdict.stats["evictions"], 0)
        self.assertGreater(verdict.stats["budget_bytes"], 0)

    def test_a_step_may_be_a_method_or_a_partial_one(self):
        class Trainer:
            def __init__(self):
                self.model = net()
                self.optimizer = torch.optim.Adam(self.model.parameters())

            def step(self, batch=8):
                self.optimizer.zero_grad()
                self.model(torch.randn(batch, 256)).square().mean().backward()
                self.optimizer.step()

            __call__ = step

        trainer = Trainer()
        for step in (trainer, trainer.step, functools.partial(trainer.step, 4)):
            with self.subTest(step):
                verdict = lowtide.verify(step, "1GiB", device="cpu")
                self.assertTrue(verdict, verdict.difference)

    def test_sparse_gradients_are_compared(self):
        table = torch.nn.Embedding(100, 8, sparse=True)

        def step():
            table.zero_grad()
            table(torch.randint(0, 100, (16,))).sum().backward()

        verdict = lowtide.verify(step, "1GiB", device="cpu", state=table)
        self.assertTrue(verdict, verdict.difference)

    def test_what_would_say_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "how often"):
            lowtide.verify(make_step(8), "1GiB", device="cpu", steps=0)
        with self.assertRaisesRegex(ValueError, "which is a function"):
            lowtide.verify(3, "1GiB", device="cpu")
        with lowtide.budget("1GiB", device="cpu"), self.assertRaisesRegex(lowtide.Error, "plainly too"):
            lowtide.verify(make_step(8), "8MiB", device="cpu")

    def test_a_step_without_a_state_is_refused(self):
        with self.assertRaisesRegex(ValueError, "pass state="):
            lowtide.verify(lambda: 1, "1GiB", device="cpu")


class Recorded(unittest.TestCase):
    def test_a_trace_has_the_steps_ops_and_names(self):
        model = net()
        trace = json.loads(lowtide.trace(make_step(64, model), name="mlp", model=model,
                                         device="cpu").json)
        self.assertEqual(trace["format"], "lowtide-trace")
        text = json.dumps(trace)
        for expected in ("mlp", "addmm", "0.weight"):
            self.assertIn(expected, text)

    def test_a_trace_can_be_taken_of_a_loop_without_an_optimizer(self):
        weight = torch.randn(300, 300, requires_grad=True)

        def step():
            (weight * weight).sum().backward()
            weight.grad = None

        self.assertIn("mul", lowtide.trace(step, device="cpu").json)

    def test_the_last_report_is_a_page(self):
        step = make_step(512)
        with lowtide.budget("6MiB", device="cpu", report=True):
            for _ in range(3):
                step()
        report = lowtide.last_report()
        page = report.html(think_seconds=0.5)
        self.assertIn("Content-Security-Policy", page)
        self.assertIn("addmm", page)
        with tempfile.TemporaryDirectory() as folder:
            report.save(pathlib.Path(folder) / "run.json")
            self.assertEqual(json.loads((pathlib.Path(folder) / "run.json").read_text()),
                             json.loads(report.json))

    def test_a_report_knows_the_batch_if_it_is_told(self):
        step = make_step(512)
        with lowtide.budget("6MiB", device="cpu", report=True, batch=512):
            for _ in range(3):
                step()
        report = lowtide.last_report()
        self.assertEqual(json.loads(report.json)["batch"], 512)
        self.assertTrue('"batch":512' in report.html(think_seconds=0.5))

    def test_without_a_second_step_there_is_no_report(self):
        with lowtide.budget("1GiB", device="cpu", report=True):
            make_step(8)()
        with self.assertRaisesRegex(RuntimeError, "report=True"):
            lowtide.last_report()


class MaxBatch(unittest.TestCase):
    def test_more_fits_under_lowtide_than_plainly(self):
        found = lowtide.max_batch(make_step, "8MiB", device="cpu", most=1024)
        self.assertGreater(found.plain, 0)
        self.assertGreater(found.managed, found.plain)
        self.assertGreater(found.managed_rate, 0)

    def test_plain_steps_are_timed_without_a_session_and_managed_ones_with_their_plans(self):
        plain, managed = collections.Counter(), {}

        def make_noting_step(batch):
            step = make_step(batch)

            def noting():
                if lowtide._session.current() is None:
                    plain[batch] += 1
                elif lowtide.memory_stats()["budget_bytes"] == 6 << 20:
                    managed.setdefault(batch, []).append(lowtide.memory_stats()["plans"])
                return step()

            return noting

        found = lowtide.max_batch(make_noting_step, "6MiB", device="cpu", most=300)
        self.assertGreaterEqual(plain.pop(found.plain), 3)
        self.assertEqual(plain, {})
        self.assertGreater(found.plain_rate, 0)
        self.assertTrue(all(managed[found.managed][-3:]), managed[found.managed])

    def test_within_a_budget_it_is_refused(self):
        with lowtide.budget("1GiB", device="cpu"), self.assertRaisesRegex(lowtide.Error, "plainly too"):
            lowtide.max_batch(make_step, "8MiB", device="cpu")

    def test_where_nothing_fits_it_is_none(self):
        found = lowtide.max_batch(make_step, "512KiB", device="cpu", most=64)
        self.assertEqual((found.plain, found.managed), (0, 0))

    def test_a_share_makes_no_sense(self):
        with self.assertRaisesRegex(ValueError, "needs a size"):
            lowtide.max_batch(make_step, "60%")


if __name__ == "__main__":
    unittest.main()
