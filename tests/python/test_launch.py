# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Scripts without an edit: `lowtide run`, LOWTIDE_BUDGET, and several ranks under torchrun."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import torch

import training

HERE = pathlib.Path(__file__).parent
PACKAGE = HERE.parents[1] / "python"

SCRIPT = textwrap.dedent("""
    import sys
    import torch
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(256, 256),
                                                                        torch.nn.GELU())])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        loss = model(torch.randn(1024, 256)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sys.argv[1:], __name__, loss.item().hex())
    if "lowtide" in sys.modules:
        stats = sys.modules["lowtide"].memory_stats()
        assert stats["peak_bytes"] <= stats["budget_bytes"], stats
        print("evictions", stats["evictions"], file=sys.stderr)
""")


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("LOWTIDE_BUDGET")}
    return subprocess.run(command, capture_output=True, text=True, timeout=300,
                          env=environment | variables, check=False)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "train.py"
        self.script.write_text(SCRIPT)

    def lowtide(self, *arguments, **variables):
        return run([sys.executable, "-m", "lowtide", "run", *arguments], **variables)

    def test_a_script_runs_as_without_and_inside_its_budget(self):
        plain = run([sys.executable, str(self.script), "--epochs", "3"])
        managed = self.lowtide("--budget", "12MiB", "--device", "cpu", "--stats", str(self.script),
                               "--epochs", "3")
        self.assertEqual(managed.returncode, 0, managed.stderr)
        self.assertEqual(managed.stdout, plain.stdout)
        self.assertRegex(managed.stderr, r"evictions [1-9]")
        self.assertRegex(managed.stderr, r"lowtide: peak [\d.]+ of 12.0 MiB, 4 steps")

    def test_a_variable_of_the_environment_is_enough(self):
        # Installed, a file in site-packages has this imported.
        starter = [sys.executable, "-c", "import runpy, sys, lowtide_autostart; "
                   "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"]
        plain = run([sys.executable, str(self.script)])
        managed = run([*starter, str(self.script)], LOWTIDE_BUDGET="12MiB", LOWTIDE_DEVICE="cpu")
        self.assertEqual(managed.returncode, 0, managed.stderr)
        self.assertEqual(managed.stdout, plain.stdout)
        self.assertRegex(managed.stderr, r"evictions [1-9]")
        without = run([*starter, str(self.script)])
        self.assertNotEqual(without.returncode, 0)
        self.assertIn("LOWTIDE_BUDGET", without.stderr)

    def test_the_batch_gets_into_the_record(self):
        record = self.folder / "run.json"
        result = self.lowtide("--budget", "12MiB", "--device", "cpu", "--batch", "1024", "--record",
                              str(record), str(self.script))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(record.read_text())["batch"], 1024)

    def test_a_report_and_a_record_are_written(self):
        page, record = self.folder / "run.html", self.folder / "run.json"
        result = self.lowtide("--budget", "12MiB", "--device", "cpu", "--report", str(page),
                              "--record", str(record), str(self.script))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Content-Security-Policy", page.read_text())
        # Layers have the names that the model gives them.
        for text in (page.read_text(), record.read_text()):
            self.assertIn('"6.weight"', text)
        json.loads(record.read_text())

    def test_each_rank_writes_a_report_of_its_own(self):
        page = self.folder / "run.html"
        result = self.lowtide("--budget", "12MiB", "--device", "cpu", "--report", str(page),
                              str(self.script), RANK="3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path.name for path in self.folder.glob("*.html")], ["run-3.html"])

    def test_where_there_is_nothing_to_report_that_is_said(self):
        self.script.write_text("import torch; torch.ones(3)")
        result = self.lowtide("--budget", "1GiB", "--record", str(self.folder / "run.json"),
                              str(self.script))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no report: no second step", result.stderr)

    def test_what_a_script_raises_and_returns_comes_through(self):
        self.script.write_text("import sys; sys.exit(7)")
        self.assertEqual(self.lowtide("--budget", "1GiB", str(self.script)).returncode, 7)
        self.script.write_text("raise KeyError('mine')")
        result = self.lowtide("--budget", "1GiB", str(self.script))
        self.assertEqual(result.returncode, 1)
        self.assertIn("KeyError: 'mine'", result.stderr)

    def test_a_process_that_the_script_forks_ends_as_it_likes(self):
        script = self.folder / "forks.py"
        script.write_text(textwrap.dedent("""
            import os, sys
            import torch
            model = torch.nn.Linear(256, 256)
            process = os.fork()
            if process == 0:
                sys.exit(3)
            print("child", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        """))
        result = self.lowtide("--budget", "1GiB", "--device", "cpu", "--stats", str(script))
        self.assertEqual((result.returncode, result.stdout), (0, "child 3\n"), result.stderr)
        self.assertEqual(result.stderr.count("steps"), 1, result.stderr)

    def test_modules_run_too(self):
        result = subprocess.run(
            [sys.executable, "-m", "lowtide", "run", "--budget", "1GiB", "-m", "train", "a"],
            capture_output=True, text=True, cwd=self.folder, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("['a'] __main__", result.stdout)

    def test_wrong_words_are_answered_in_a_line(self):
        for arguments, answer in ((("--budget", "8 parsecs", str(self.script)), "8 parsecs"),
                                  (("--budget", "1GiB", "missing.py"), "no script missing.py"),
                                  (("--budget", "1GiB"), "name a script"),
                                  ((str(self.script),), "--budget"),
                                  (("--budget", "1GiB", "--device", "tpu", str(self.script)),
                                   "unknown device"),
                                  (("--budget", "1GiB", "--report", "/nowhere/run.html",
                                    str(self.script)), "no folder for /nowhere/run.html"),
                                  (("--budget", "1GiB", "--spill-dir", "/nowhere",
                                    str(self.script)), "/nowhere")):
            with self.subTest(arguments):
                result = self.lowtide(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(answer, result.stderr)
                self.assertNotIn("Traceback", result.stderr)


def fell_at_the_end(result):
    """Whether a rank was ended by torch itself while Python took it down, all work being done: with two
    of 65 plain FSDP2 runs on a busy machine (torch 2.11) that is so."""
    return (result.returncode != 0 and "terminate called without an active exception" in result.stderr
            and all(f"rank {rank} has left the group" in result.stderr for rank in range(2)))


def run_ranks(*words, **variables):
    """Under torchrun, and anew after such an end."""
    for _ in range(4):
        result = run([sys.executable, "-m", "torch.distributed.run", "--standalone",
                      "--nproc-per-node", "2", *words], **variables)
        if not fell_at_the_end(result):
            break
    return result


class Ranks(unittest.TestCase):
    def train(self, kind, *before, **variables):
        with tempfile.TemporaryDirectory() as folder:
            result = run_ranks(*before, str(HERE / "ranks.py"), kind, folder, **variables)
            self.assertEqual(result.returncode, 0, result.stderr[-3000:])
            return [torch.load(pathlib.Path(folder) / f"{rank}.pt") for rank in range(2)], result

    found_plainly = {}

    def plain(self, kind):
        """What both ranks find without a budget; several tests compare with the same."""
        if kind not in self.found_plainly:
            self.found_plainly[kind], _ = self.train(kind)
        return self.found_plainly[kind]

    def train_within(self, kind, budget):
        return self.train(kind, "-m", "lowtide", "run", "--budget", f"{budget}B", "--device", "cpu",
                          "--stats")

    def check(self, kind):
        plain = self.plain(kind)
        free, _ = self.train_within(kind, 1 << 40)
        peak = min(found["stats"]["peak_bytes"] for found in free)
        for share in (0.6, 0.4):
            with self.subTest(share=share):
                self.compare(plain, *self.train_within(kind, int(peak * share)), int(peak * share))

    def compare(self, plain, managed, result, budget):
        for one, other in zip(plain, managed):
            self.assertEqual(one["loss"], other["loss"])
            self.assertIsNone(training.first_difference(one["state"], other["state"]))
            self.assertGreater(other["stats"]["evictions"], 0)
            self.assertLessEqual(other["stats"]["peak_bytes"], budget)
        for rank in range(2):
            self.assertIn(f"lowtide[{rank}]: peak", result.stderr)

    def test_each_rank_has_a_spill_file_and_tells_who_it_is(self):
        plain = self.plain("ddp")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            managed, result = self.train(
                "ddp", "-m", "lowtide", "run", "--budget", "7MiB", "--device", "cpu", "--means",
                "host", "--host-cap", "2MiB", "--spill-dir", folder, "--stats")
            # The files have no names.
            self.assertEqual(os.listdir(folder), [])
        self.compare(plain, managed, result, 7 << 20)
        for rank, found in enumerate(managed):
            self.assertGreater(found["stats"]["bytes_to_disk"], 0)
            self.assertIn(f"lowtide[{rank}]: the spill folder can be written", result.stderr)

    def test_a_variable_of_the_environment_is_enough_for_all_ranks(self):
        plain = self.plain("ddp")
        with tempfile.TemporaryDirectory() as folder:
            # As the file in site-packages does where the package is installed.
            pathlib.Path(folder, "sitecustomize.py").write_text(
                "import os\nif os.environ.get('LOWTIDE_BUDGET'): import lowtide_autostart\n")
            path = os.pathsep.join([folder, os.environ["PYTHONPATH"]])
            managed, _ = self.train("ddp", PYTHONPATH=path, LOWTIDE_BUDGET="10MiB",
                                    LOWTIDE_DEVICE="cpu")
        for one, other in zip(plain, managed):
            self.assertIsNone(training.first_difference(one["state"], other["state"]))
            self.assertGreater(other["stats"]["evictions"], 0)
            self.assertLessEqual(other["stats"]["peak_bytes"], 10 << 20)

    def test_data_parallel(self):
        self.check("ddp")

    def test_fully_sharded(self):
        self.check("fsdp")


if __name__ == "__main__":
    unittest.main()
