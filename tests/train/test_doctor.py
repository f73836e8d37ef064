# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide doctor`: it tells what there is, on any machine, and fails only for what is needed."""

import json
import unittest

from training import AS_ONE_OF_MANY, DONE, FAILED, USAGE, TrainTest, permissions_can_be_tested


class Doctor(TrainTest):
    def examine(self, *arguments, code=DONE, **options):
        done = self.run_program("doctor", *arguments, "--json", **options)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def test_tells_what_there_is_and_leaves_nothing(self):
        found = self.examine("--spill-dir", ".")
        for name in ("torch_built", "torch_loaded", "processors", "threads", "memory_bytes", "memory_limit_bytes",
                     "memory_free_bytes", "lock_limit_bytes", "driver_version", "driver_cuda", "gpus", "io_uring",
                     "cufile", "disk", "lacking"):
            self.assertIn(name, found)
        self.assertLessEqual(found["memory_free_bytes"], found["memory_limit_bytes"] or found["memory_bytes"])
        self.assertGreater(found["disk"]["read_bytes_per_second"], 0)
        self.assertGreater(found["disk"]["write_bytes_per_second"], 0)
        self.assertEqual(found["disk"]["io"], "io_uring" if found["io_uring"] else "threads")
        self.assertEqual(found["threads"], 1)  # OMP_NUM_THREADS
        self.assertEqual(self.names(), [])

    def test_text_says_the_same(self):
        out = self.succeed("doctor", "--spill-dir", ".")
        for name in ("torch", "processors", "memory", "driver", "GPU", "io_uring", "cuFile", "disk"):
            self.assertRegex(out, rf"(?m)^{name} +\S")

    def test_machine_without_a_gpu_is_fine(self):
        found = self.examine("--spill-dir", ".")
        if found["gpus"]:
            self.skipTest("there is a GPU")
        self.assertIn("CPU", " ".join(lack["what"] for lack in found["lacking"] if not lack["needed"]))

    def test_folders_that_cannot_be_used_are_said_and_count_if_named(self):
        self.write("file", "text")
        for folder, message in (("nowhere", "does not exist"), ("file", "is no folder"),
                                ("/proc", "no file can be made")):
            with self.subTest(folder=folder):
                found = self.examine("--spill-dir", folder, code=FAILED)
                self.assertIn(message, found["disk"]["failure"])
                needed = [lack for lack in found["lacking"] if lack["needed"]]
                self.assertEqual(len(needed), 1)
                self.assertIn(message, needed[0]["what"])
                done = self.run_program("doctor", "--spill-dir", folder)
                self.assertRegex(done.stdout, rf"(?m)^missing: .*{message}")

    @unittest.skipUnless(permissions_can_be_tested(), "root may write everywhere")
    def test_folder_without_permission(self):
        (self.folder / "closed").mkdir(mode=0o500)
        found = self.examine("--spill-dir", "closed", code=FAILED, prefix=AS_ONE_OF_MANY)
        self.assertIn("allow us to write", found["disk"]["failure"])

    def test_temporary_folder_is_not_needed(self):
        done = self.run_program("doctor", "--json", environment={"TMPDIR": "/proc"})
        self.assertEqual(done.returncode, DONE, done.stdout)
        self.assertIn("no file can be made", json.loads(done.stdout)["disk"]["failure"])

    def test_bad_input(self):
        self.assertIn("unexpected argument 'extra'", self.fail_with(USAGE, "doctor", "extra"))
        self.assertIn("--spill-dir", self.fail_with(USAGE, "doctor", "--spill-dir"))
