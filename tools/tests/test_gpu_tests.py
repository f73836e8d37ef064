# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent / "gpu_tests"

GOOD = """[ RUN      ] Moving.Blocks
[       OK ] Moving.Blocks (3 ms)
[ RUN      ] Moving.Pages
pages.cpp:1: Skipped
[  SKIPPED ] Moving.Pages (0 ms)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Moving.Pages
"""
BAD = """[       OK ] All/Guided.Keeps/a (3 ms)
[  FAILED  ] All/Guided.Keeps/b, where GetParam() = b (12 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] All/Guided.Keeps/b, where GetParam() = b
"""


class GpuTestsTest(unittest.TestCase):
    """On programs that print what the real ones would, and a GPU that is only said to be there."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script("nvidia-smi", "echo NVIDIA H200")

    def script(self, name, text):
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def program(self, name, output, code=0):
        (self.folder / f"{name}.txt").write_text(output)
        # Only the first of the processes that share its cases has any.
        self.script(f"tests_torch_{name}",
                    f'[ "$LT_TEST_DEVICE" = cuda ] || exit 9\n[ "$GTEST_SHARD_INDEX" = 0 ] || exit 0\n'
                    f'cat {self.folder}/{name}.txt\nexit {code}')

    def run_tool(self, *arguments):
        variables = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run([sys.executable, "-B", TOOL, "--build", self.folder, *arguments], env=variables,
                              text=True, capture_output=True, check=False)

    def test_counts_each_case_once_and_writes_them_down(self):
        self.program("moving", GOOD)
        saved = self.folder / "saved.json"
        done = self.run_tool("moving", "--save", saved, "--commit", "abc")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 passed, 0 failed, 1 skipped", done.stdout)
        record = json.loads(saved.read_text())
        self.assertEqual((record["commit"], record["machine"]), ("abc", "NVIDIA H200"))
        self.assertEqual([(row["program"], row["passed"], row["skipped"]) for row in record["programs"]],
                         [("moving", 1, 1)])

    def test_believes_what_a_share_of_the_package_counts(self):
        self.program("moving", "test_a (test_gpu.A.test_a) ... a warning\nok\none share: 3 passed, 2 skipped\n")
        self.assertIn("3 passed, 0 failed, 2 skipped", self.run_tool("moving").stdout)

    def test_names_what_failed(self):
        self.program("moving", GOOD)
        self.program("guided", BAD, code=1)
        done = self.run_tool("moving", "guided")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 passed, 1 failed, 1 skipped", done.stdout)
        self.assertIn("\nguided: All/Guided.Keeps/b\n", done.stdout)

    def test_adds_up_how_many_programs_followed_a_plan(self):
        followed = "{}                     of 7 programs 5 planned, {} guided, 3 of them as wanted\n"
        self.program("guided", GOOD + followed.format("capuchin mixed", 4) + followed.format("tide host", 1))
        saved = self.folder / "saved.json"
        self.assertEqual(self.run_tool("guided", "--save", saved).returncode, 0)
        self.assertEqual(json.loads(saved.read_text())["programs"][0]["plans"]["capuchin mixed"],
                         {"programs": 7, "planned": 5, "guided": 4, "as_wanted": 3})
        self.program("guided", GOOD + followed.format("capuchin mixed", 0))
        done = self.run_tool("guided")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no program was guided: capuchin mixed", done.stdout)

    def test_a_program_that_dies_or_does_not_end_is_no_success(self):
        self.program("moving", GOOD, code=134)
        self.assertEqual(self.run_tool("moving").returncode, 1)
        self.script("tests_torch_slow", "echo '  test_a (test_gpu.A.test_a) (share=0.6) ... ERROR'; exec sleep 60")
        done = self.run_tool("slow", "--seconds", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 programs did not end in time, 0 crashed", done.stdout)
        self.assertIn("slow: test_a (test_gpu.A.test_a) (share=0.6)", done.stdout)

    def test_refuses_unknown_programs_and_machines_without_a_gpu(self):
        self.program("moving", GOOD)
        self.assertEqual(self.run_tool("moved").returncode, 2)
        self.script("nvidia-smi", "exit 1")
        done = self.run_tool("moving")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no GPU", done.stderr)


if __name__ == "__main__":
    unittest.main()
