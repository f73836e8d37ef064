# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Runs the program that was built (its path is in LT_PROGRAM) for the tests of the command line."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["LT_PROGRAM"]

DONE, FAILED, USAGE, DOES_NOT_FIT = range(4)
INTERRUPTED = 130

# What permissions forbid, root does all the same as long as it has these two capabilities.
AS_ONE_OF_MANY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()


def permissions_can_be_tested():
    return not AS_ONE_OF_MANY or (shutil.which("setpriv") is not None and
                                  subprocess.run([*AS_ONE_OF_MANY, "true"], check=False).returncode == 0)

# A chain of three layers. On the unit machine an op takes a second and a byte a second; the plain step
# takes 600 bytes in b3, of which it reads and writes 300.
STEP = """lowtide-trace 1
name chain
storage w 100 parameter start end
storage x 100 input start end
storage a 100 activation
storage b 100 activation
storage c 100 activation
storage g 100 gradient
op f1 forward layer=one : w x -> a
op f2 forward layer=two : a -> b
op f3 forward layer=three : b -> c
op b3 backward layer=three : b c -> g
op b2 backward layer=two : a g -> g
op b1 optimizer layer=one : w g -> w
"""


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, in which `step.trace` lies."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lowtide_cli_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("step.trace", STEP)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def read(self, name):
        return (self.folder / name).read_text()

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def run_program(self, *arguments, stdin="", environment=None, prefix=(), **options):
        """The completed process; standard output and error are text. `prefix` is a command that runs another."""
        variables = {**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([*prefix, PROGRAM, *arguments], input=stdin, cwd=self.folder, env=variables,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False, **options)

    def succeed(self, *arguments, **options):
        """What the program prints; fails the test unless it exits with 0."""
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout

    def fail_with(self, code, *arguments, **options):
        """The message of the program, which must be one line; fails the test for any other exit code."""
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\Alowtide: error: [^\n]+\n\Z")
        return done.stderr
