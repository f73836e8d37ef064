# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Budgets for blocks and functions, their options and their errors."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import torch

import lowtide
import training
from test_everyday import is_away


def small_net():
    torch.manual_seed(1)
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Dropout(0.1)]
    return torch.nn.Sequential(*layers)


def batch():
    return torch.randn(512, 256)


class Budget(unittest.TestCase):
    def test_training_inside_it_has_the_same_bits(self):
        training.check_identity(self, small_net(), batch, 0.4)

    def test_a_share_of_the_plain_peak_holds_from_the_third_step_on(self):
        model = small_net()
        optimizer = torch.optim.AdamW(model.parameters())
        with lowtide.budget("50%", device="cpu") as budget:
            for step in range(5):
                model(batch()).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
                if step == 0:
                    self.assertEqual(budget.stats()["budget_bytes"], 0)
            stats = budget.stats()
        self.assertGreater(stats["budget_bytes"], 0)
        self.assertLessEqual(stats["peak_bytes"], stats["budget_bytes"])
        self.assertGreater(stats["evictions"], 0)

    def test_a_share_counts_the_steps_of_a_loop_without_an_optimizer(self):
        model = small_net()
        for end_step in (lowtide.end_step, lambda: budget.session.end_step()):
            with lowtide.budget("50%", device="cpu") as budget:
                for _ in range(3):
                    model(batch()).square().mean().backward()
                    model.zero_grad()
                    end_step()
                self.assertGreater(budget.stats()["budget_bytes"], 0)
                self.assertLessEqual(budget.stats()["peak_bytes"], budget.stats()["budget_bytes"])

    def test_a_share_may_be_less_than_what_is_there_from_step_to_step(self):
        def run(budget, **options):
            # Parameters, gradients and states are four fifths of it.
            torch.manual_seed(1)
            model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(6)])
            optimizer = torch.optim.AdamW(model.parameters())
            losses, stats = [], {}
            with lowtide.budget(budget, device="cpu", **options):
                for _ in range(6):
                    loss = model(torch.randn(64, 512)).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                stats = lowtide.memory_stats()
            return training.bits([losses, model.state_dict()]), stats

        plain, _ = run("1GiB")
        managed, stats = run("60%", report=True)
        self.assertIsNone(training.first_difference(plain, managed))
        self.assertLessEqual(stats["peak_bytes"], stats["budget_bytes"])
        self.assertGreater(stats["evictions"], 0)
        # What is remembered is the budget, not the steps that were measured for it.
        self.assertEqual(lowtide.memory_stats()["budget_bytes"], stats["budget_bytes"])
        self.assertEqual(json.loads(lowtide.last_report().json)["budget_bytes"], stats["budget_bytes"])

    def test_what_was_held_before_a_share_took_force_may_leave_after_it(self):
        tensor = torch.randn(512, 512)
        weight = torch.randn(512, 512, requires_grad=True)
        optimizer = torch.optim.SGD([weight])

        def step():
            (weight * tensor).sum().backward()
            optimizer.step()

        with lowtide.budget("200%", device="cpu", means="host", evict_everything=True):
            with lowtide.hold(tensor):
                for _ in range(3):
                    step()
                self.assertFalse(is_away(tensor))
            step()
            self.assertTrue(is_away(tensor))

    def test_what_is_held_outlives_the_budget_inside_in_which_it_began(self):
        tensor = torch.randn(512, 512)
        with lowtide.budget("1GiB", device="cpu", means="host", evict_everything=True):
            inside = lowtide.budget("2GiB", device="cpu", means="host", evict_everything=True)
            held = lowtide.hold(tensor)
            with inside:
                held.__enter__()
                tensor.add_(0)
            tensor.add_(0)
            self.assertFalse(is_away(tensor))
            held.__exit__(None, None, None)
            tensor.add_(0)
            self.assertTrue(is_away(tensor))

    def test_is_a_decorator_too(self):
        @lowtide.budget("1GiB", device="cpu")
        def budget_inside():
            return lowtide.memory_stats()["budget_bytes"]
        self.assertEqual(budget_inside(), 1 << 30)
        self.assertEqual(budget_inside(), 1 << 30)

    def test_nests_and_the_innermost_counts(self):
        with lowtide.budget("2GiB", device="cpu"):
            with lowtide.budget("1GiB", device="cpu"):
                self.assertEqual(lowtide.memory_stats()["budget_bytes"], 1 << 30)
            self.assertEqual(lowtide.memory_stats()["budget_bytes"], 2 << 30)

    def test_can_be_enabled_and_disabled(self):
        lowtide.enable("1GiB", device="cpu")
        try:
            self.assertEqual(lowtide.memory_stats()["budget_bytes"], 1 << 30)
        finally:
            lowtide.disable()
        with self.assertRaisesRegex(RuntimeError, "without lowtide.enable"):
            lowtide.disable()

    def test_an_exception_ends_it_and_torch_is_as_before(self):
        before = (torch.Tensor.__dict__.get("numpy"), threading.Thread._bootstrap_inner)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            with lowtide.budget("1GiB", device="cpu"):
                self.assertNotEqual(threading.Thread._bootstrap_inner, before[1])
                raise ZeroDivisionError("mine")
        self.assertEqual((torch.Tensor.__dict__.get("numpy"),
                          threading.Thread._bootstrap_inner), before)
        self.assertIsNone(lowtide._session.current())

    def test_may_end_before_one_inside_it(self):
        tensor = torch.randn(512, 512)
        options = {"device": "cpu", "means": "host", "evict_everything": True}
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            with lowtide.budget("2GiB", **options):
                held = lowtide.hold(tensor)
                held.__enter__()
                lowtide.enable("1GiB", **options)
                raise ZeroDivisionError("mine")
        try:
            self.assertEqual(lowtide.memory_stats()["budget_bytes"], 1 << 30)
            tensor.add_(0)
            self.assertFalse(is_away(tensor))
            held.__exit__(None, None, None)
            tensor.add_(0)
            self.assertTrue(is_away(tensor))
        finally:
            lowtide.disable()
        self.assertFalse(is_away(tensor))
        self.assertIsNone(lowtide._session.current())

    def test_threads_have_one_each_in_any_order(self):
        opened, closed = threading.Barrier(2), threading.Event()

        def work(is_first_to_end):
            try:
                with lowtide.budget("1GiB", device="cpu"):
                    opened.wait()
                    torch.ones(1000).sum()
                    if not is_first_to_end:
                        closed.wait()
            finally:
                closed.set()

        # Whoever is the inner one.
        for order in ((True, False), (False, True)):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for done in [pool.submit(work, is_first) for is_first in order]:
                    done.result()
            self.assertIsNone(lowtide._session.current())
            closed.clear()

    def test_statistics_outlive_it(self):
        with lowtide.budget("1GiB", device="cpu"):
            kept = torch.randn(1000, 1000)
        self.assertGreaterEqual(lowtide.memory_stats()["peak_bytes"], kept.nbytes)


class Errors(unittest.TestCase):
    def test_too_small_a_budget_is_torchs_own_error_with_one_argument(self):
        with self.assertRaises(torch.OutOfMemoryError) as caught:
            training.train(small_net(), batch, budget="1MiB")
        self.assertEqual(len(caught.exception.args), 1)
        self.assertRegex(caught.exception.args[0], "The budget of 1.00 MiB cannot be kept")
        # And all is well afterwards.
        training.check_identity(self, small_net(), batch, 0.5)

    def test_what_cannot_be_held_at_once_is_the_same_error(self):
        with lowtide.budget("3MiB", device="cpu"):
            tensors = [torch.ones(1 << 19) for _ in range(2)]
            with self.assertRaisesRegex(torch.OutOfMemoryError, "^DefaultCPUAllocator: .*Lowtide"):
                with lowtide.hold(*tensors):
                    pass

    def test_what_is_no_budget_is_refused(self):
        for bad in ("0%", "x%", "-5%", "inf%", "nan%"):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, "share of the plain peak"):
                lowtide.budget(bad)
        for bad in (None, True, 1.5):
            with self.subTest(bad), self.assertRaises(TypeError):
                lowtide.budget(bad)
        for bad in ("", "8 parsecs", 0):
            with self.subTest(bad), self.assertRaises(ValueError):
                with lowtide.budget(bad, device="cpu"):
                    pass

    def test_unknown_options_are_answered_with_the_nearest(self):
        with self.assertRaisesRegex(ValueError, "did you mean 'spill_dir'"):
            with lowtide.budget("1GiB", spil_dir="."):
                pass

    def test_options_may_be_torchs_and_pythons_own_objects(self):
        with tempfile.TemporaryDirectory() as folder, lowtide.budget(
                "1GiB", device=torch.device("cpu"), spill_dir=pathlib.Path(folder), spill_cap="1MiB"):
            self.assertEqual(lowtide.memory_stats()["budget_bytes"], 1 << 30)
        with self.assertRaisesRegex(TypeError, "an option cannot be a object"):
            lowtide.budget("1GiB", device=object()).__enter__()
        with self.assertRaisesRegex(TypeError, "report is True or False"):
            lowtide.budget("1GiB", device="cpu", report="report.html").__enter__()

    def test_what_cannot_be_held_is_said_to_be_no_tensor(self):
        for bad in ([torch.ones(3)], torch.nn.Linear(2, 2), None):
            with self.subTest(bad), self.assertRaisesRegex(TypeError, "hold\\(\\) takes tensors"):
                with lowtide.hold(bad):
                    pass

    def test_what_works_after_it_was_called_cannot_be_decorated(self):
        def generator():
            yield

        async def coroutine():
            pass

        async def both():
            yield

        for function in (generator, coroutine, both):
            with self.subTest(function.__name__), self.assertRaisesRegex(TypeError, "inside it"):
                lowtide.budget("1GiB", device="cpu")(function)

    def test_a_device_that_is_not_there_is_said_to_be(self):
        with self.assertRaises(lowtide.DeviceError):
            with lowtide.budget("1GiB", device="cuda:99"):
                pass

    def test_a_gpu_is_not_overlooked_by_a_library_for_the_processor(self):
        library = lowtide._library.library()
        with mock.patch.object(torch.cuda, "is_available", lambda: True), (
                mock.patch.object(library, "lowtide_is_built_for_gpus", lambda: 0)):
            with self.assertRaisesRegex(lowtide.DeviceError, "for the processor only.*device='cpu'"):
                with lowtide.budget("1GiB"):
                    pass
            with lowtide.budget("1GiB", device="cpu"):
                pass
        self.assertIsNone(lowtide._session.current())

    def test_a_budget_can_be_entered_once_at_a_time(self):
        budget = lowtide.budget("1GiB", device="cpu")
        with budget, self.assertRaisesRegex(RuntimeError, "in force already"):
            with budget:
                pass
        with self.assertRaisesRegex(RuntimeError, "not in force"):
            budget.stats()
        with self.assertRaisesRegex(RuntimeError, "not in force"):
            budget.__exit__(None, None, None)


class Import(unittest.TestCase):
    def test_nothing_is_imported_with_it_but_torch_and_what_python_has(self):
        script = ("import sys, torch\nbefore = set(sys.modules)\nimport lowtide\n"
                  "names = {name for name in set(sys.modules) - before if name.split('.')[0] not in "
                  "{'lowtide', *sys.stdlib_module_names}}\nprint(sorted(names))")
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                check=True)
        self.assertEqual(result.stdout, "[]\n")

    def test_another_torch_is_an_import_error_that_says_what_to_do(self):
        script = ("import torch; torch.__version__ = '2.99.0'\n"
                  "try:\n  import lowtide\nexcept ImportError as error:\n  print(error)")
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                check=True)
        self.assertRegex(result.stdout, r"built for torch 2\.\d+, but torch 2\.99\.0 is imported")

    def test_an_installed_package_knows_its_torch_before_it_loads_anything(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "lowtide")
            shutil.copytree(pathlib.Path(lowtide.__file__).parent, package)
            (package / "built_with_torch.txt").write_text("2.99\n")
            script = "try:\n  import lowtide\nexcept ImportError as error:\n  print(error)"
            result = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True,
                env=os.environ | {"PYTHONPATH": folder, "LOWTIDE_LIBRARY": "/nowhere/liblowtide.so"})
        self.assertRegex(result.stdout, r"built for torch 2\.99, but torch \d.*'torch==2\.99\.\*'")

    def test_a_missing_library_is_said_to_be(self):
        script = ("import os; os.environ['LOWTIDE_LIBRARY'] = '/nowhere/liblowtide.so'\n"
                  "try:\n  import lowtide\nexcept ImportError as error:\n  print(error)")
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                check=True)
        self.assertIn("there is no library at /nowhere/liblowtide.so", result.stdout)


if __name__ == "__main__":
    unittest.main()
