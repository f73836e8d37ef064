# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What the real program does with bad input: exit code, message, and no partial output."""

import json
import os
import subprocess
import unittest

from program import (AS_ONE_OF_MANY, DOES_NOT_FIT, DONE, FAILED, PROGRAM, STEP, USAGE, ProgramTest,
                     permissions_can_be_tested)

UNIT = ("--machine", "unit")


class Usage(ProgramTest):
    CASES = [
        ((), "no verb given"),
        (("plam",), "did you mean 'plan'?"),
        (("plan", "step.trace", "--bugdet", "1"), "unknown option '--bugdet'; did you mean '--budget'?"),
        (("plan", "step.trace"), "--budget is required"),
        (("plan", "step.trace", "-b", "lots"), "not a size: 'lots'"),
        (("plan", "step.trace", "-b", "x%"), "not a share: 'x%'"),
        (("plan", "step.trace", "-b", "60%", "-p", "capucin"), "did you mean 'capuchin'?"),
        (("plan", "step.trace", "-b", "60%", "-p", "nope"), "known are keep_all, "),
        (("plan", "step.trace", "-b", "60%", "--machine", "h20"), "did you mean 'h200'?"),
        (("plan", "step.trace", "-b", "60%", "--option", "no_such=1"), "no_such"),
        (("compare", "step.trace", "-b", "60%", "-p", "dtr,nope"), "unknown policy 'nope'"),
        (("compare", "step.trace", "step.trace", "-b", "60%", "--svg", "a.svg"), "--svg draws one step"),
        (("compare", "step.trace", "-b", "60%", "--html", "-"), "name a file"),
        (("compare", "step.trace", "-b", "60%", "-p", "dtr,lru,dtr"), "--policy: named twice: 'dtr'"),
        (("compare", "step.trace", "-b", "60%", "-p", "all,dtr"), "'all' names every policy, so it stands alone"),
        (("compare", "step.trace", "-b", "60%,50%,60%"), "--budget: named twice: '60%'"),
        (("plan", "", "-b", "60%"), "TRACE: must not be empty"),
        (("plan", "step.trace", "-b", "60%", "-o", ""), "--output: must not be empty"),
        (("plan", "step.trace", "-b", "60%", "-p", "modnn", "--split", ""), "--split: must not be empty"),
        (("plan", "step.trace", "-b", "60%", "--think", "nan"), "--think: not a number above 0: 'nan'"),
        (("plan", "step.trace", "-b", "60%", "--think", "0"), "--think: not a number above 0: '0'"),
        (("policies", "nope"), "unknown policy 'nope'"),
        (("plan", "step.trace", "-b", "60%", "-p", "ctdr"), "use 'lowtide decompose MODEL"),
        (("simulate", "step.trace", "-p", "dtr"), "--policy needs --budget"),
        (("simulate", "step.trace", "--width", "3"), "--width"),
        (("check", "-", "-"), "standard input can be read only once"),
    ]

    def test_names_the_fault_and_what_to_do(self):
        for arguments, message in self.CASES:
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, *arguments))


class OverInputs(ProgramTest):
    """No file is written over that is read, and none twice."""

    CASES = [
        ("plan", "step.trace", "-b", "80%", "-o", "./step.trace"),
        ("plan", "step.trace", "-b", "80%", "--machine", "machine.json", "-o", "machine.json"),
        ("plan", "step.trace", "-b", "80%", "-o", "link.trace"),
        ("simulate", "step.trace", "--chrome", "step.trace"),
        ("check", "step.trace", "--to", "json", "-o", "step.trace"),
        ("compare", "step.trace", "-b", "80%", "-p", "belady", "--csv", "step.trace"),
        ("report", "step.trace", "-b", "80%", "-o", "step.trace"),
    ]
    TWICE = [
        ("plan", "step.trace", "-b", "80%", "-p", "modnn", "--split", "new", "-o", "./new"),
        ("compare", "step.trace", "-b", "80%", "-p", "belady", "--csv", "old", "--html", "old"),
    ]

    def test_are_left_alone(self):
        self.write("machine.json", "{}")
        self.write("old", "old")
        os.symlink("step.trace", self.folder / "link.trace")
        before = {name: self.read(name) for name in self.names()}
        for cases, message in ((self.CASES, "is read, and would be written over"),
                               (self.TWICE, "would be written twice")):
            for arguments in cases:
                with self.subTest(arguments=arguments):
                    self.assertIn(message, self.fail_with(USAGE, *arguments))
        self.assertEqual({name: self.read(name) for name in self.names()}, before)

    def test_what_is_no_plain_file_may_be_named_twice(self):
        self.succeed("compare", "step.trace", "-b", "80%", *UNIT, "-p", "belady", "--csv", "/dev/null", "--html", "/dev/null")


class Files(ProgramTest):
    def test_missing_empty_and_folder(self):
        (self.folder / "folder").mkdir()
        self.write("empty", "")
        self.write("blank", " \n\n")
        for name, message in (("missing.trace", "cannot read missing.trace: No such file"),
                              ("empty", "empty is empty; give a trace"),
                              ("blank", "blank is empty; give a trace"),
                              ("folder", "cannot read folder: it is a folder")):
            for arguments in (("check",), ("plan", "-b", "1"), ("simulate",), ("compare", "-b", "1")):
                with self.subTest(name=name, verb=arguments[0]):
                    self.assertIn(message, self.fail_with(FAILED, *arguments, name))
            if name != "folder":
                self.assertIn(name, self.fail_with(FAILED, "check", "step.trace", name))

    @unittest.skipUnless(permissions_can_be_tested(), "root may read everything")
    def test_unreadable(self):
        (self.folder / "step.trace").chmod(0)
        self.assertIn("Permission denied", self.fail_with(FAILED, "check", "step.trace", prefix=AS_ONE_OF_MANY))

    def test_malformed_trace_names_file_and_line(self):
        cases = (("storage w 100 parameter start end", "storage w many parameter", "line 3"),
                 ("op f2 forward", "op f2 sideways", "line 10"),
                 ("b c -> g", "b d -> g", "line 12: unknown storage: 'd'"),
                 ("lowtide-trace 1", "lowtide-trace 9", "line 1"),
                 ("lowtide-trace 1", "hello", "line 1"))
        for good, bad, message in cases:
            with self.subTest(bad=bad):
                self.write("bad.trace", STEP.replace(good, bad))
                self.assertIn("bad.trace: " + message, self.fail_with(FAILED, "check", "bad.trace"))

    def test_malformed_json_names_file_and_field(self):
        self.write("bad.json", '{"format": "lowtide-trace"')
        self.assertIn("bad.json: not valid JSON", self.fail_with(FAILED, "check", "bad.json"))
        self.write("bad.json", '{"format": "lowtide-trace", "version": 1, "name": 3}')
        self.assertIn("bad.json: trace.name", self.fail_with(FAILED, "check", "bad.json"))
        self.write("machine.json", '{"format": "lowtide-machine", "version": 1, "name": "x"}')
        self.assertIn("machine.json: machine.device_bytes",
                      self.fail_with(FAILED, "check", "step.trace", "--machine", "machine.json"))

    def test_binary_rubbish(self):
        (self.folder / "rubbish").write_bytes(bytes(range(256)) * 10)
        self.assertIn("rubbish", self.fail_with(FAILED, "check", "rubbish"))


class Plans(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("plan", "step.trace", "-b", "80%", *UNIT, "-o", "step.plan")

    def test_malformed_plan_names_file_and_line(self):
        self.write("bad.plan", self.read("step.plan") + "drop nothing.0 after 1\n")
        line = len(self.read("step.plan").splitlines()) + 1
        for verb in ("check", "simulate"):
            self.assertIn(f"bad.plan: line {line}: ",
                          self.fail_with(FAILED, verb, "step.trace", "bad.plan", *UNIT))
        self.write("bad.plan", "hello\n")
        self.assertIn("bad.plan: line 1: not a plan",
                      self.fail_with(FAILED, "check", "step.trace", "bad.plan", *UNIT))

    def test_plan_for_another_trace(self):
        self.write("other.trace", STEP.replace("storage a 100", "storage a 101"))
        for verb in ("check", "simulate"):
            message = self.fail_with(FAILED, verb, "other.trace", "step.plan", *UNIT)
            self.assertIn("step.plan", message)
            self.assertIn("trace", message)

    def violating_plan(self):
        head = self.read("step.plan").splitlines()[:4]
        self.write("wrong.plan", "\n".join([*head, "drop a.0 after 1", ""]))
        return "wrong.plan"

    def test_violations_are_listed(self):
        plan = self.violating_plan()
        done = self.run_program("check", "step.trace", plan, *UNIT)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("not_resident: ", done.stdout)
        self.assertIn("b2 (op 4)", done.stdout)
        self.assertRegex(done.stderr, r"\Alowtide: error: wrong.plan: \d+ violation")
        done = self.run_program("check", "step.trace", plan, *UNIT, "--json")
        self.assertEqual(done.returncode, FAILED)
        verdict = json.loads(done.stdout)["plan"]
        self.assertFalse(verdict["ok"])
        self.assertIn({"kind": "not_resident", "op": 4, "value": "a.0"},
                      [{key: item.get(key) for key in ("kind", "op", "value")}
                       for item in verdict["violations"]])

    def test_violating_plan_is_not_simulated(self):
        message = self.fail_with(FAILED, "simulate", "step.trace", self.violating_plan(), *UNIT)
        self.assertIn("wrong.plan: the plan is wrong: ", message)

    def test_smaller_budget_makes_a_good_plan_wrong(self):
        done = self.run_program("check", "step.trace", "step.plan", *UNIT, "--budget", "10")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("over_budget", done.stdout)


class Budgets(ProgramTest):
    def test_too_small_a_budget_names_working_set_op_and_a_budget_that_works(self):
        for policy in [p["name"] for p in json.loads(self.succeed("policies", "--json"))["policies"]]:
            with self.subTest(policy=policy):
                plan = ("plan", "step.trace", *UNIT, "-p", policy, "-o", "out.plan", "-b")
                message = self.fail_with(DOES_NOT_FIT, *plan, "5")
                self.assertIn(f"no plan of {policy} fits 5 B", message)
                self.assertRegex(message, r"\w+ \(op \d+\) alone needs 300 B")
                self.assertEqual(self.names(), ["step.trace"])
                done = self.run_program(*plan[:-3], "-b", "5", "--json")
                self.assertEqual(done.returncode, DOES_NOT_FIT)
                refusal = json.loads(done.stdout)
                self.assertTrue(refusal["refused"])
                smallest = str(refusal["smallest_budget_bytes"])
                self.assertIn(f"--budget {smallest}", message)
                self.succeed(*plan, smallest)
                os.unlink(self.folder / "out.plan")

    def test_simulate_and_compare(self):
        self.fail_with(DOES_NOT_FIT, "simulate", "step.trace", *UNIT, "-b", "5")
        done = self.run_program("compare", "step.trace", *UNIT, "-b", "5")
        self.assertEqual(done.returncode, DOES_NOT_FIT)
        self.assertIn("refused (min 600 B)", done.stdout)


class Output(ProgramTest):
    PLAN = ("plan", "step.trace", "-b", "80%", *UNIT)

    def test_unwritable_places(self):
        (self.folder / "folder").mkdir()
        before = self.names()
        for path, message in (("no/such/folder/p", "No such file or directory"),
                              ("folder", "it is a folder"), ("step.trace/p", "Not a directory"),
                              ("/dev/full", "No space left")):
            with self.subTest(path=path):
                self.assertIn(message, self.fail_with(FAILED, *self.PLAN, "-o", path))
                chrome = ("simulate", "step.trace", *UNIT, "--chrome", path)
                self.assertIn(message, self.fail_with(FAILED, *chrome))
        self.assertEqual(self.names(), before)

    def test_failure_leaves_the_old_file(self):
        self.write("step.plan", "old")
        self.fail_with(DOES_NOT_FIT, "plan", "step.trace", "-b", "5", *UNIT, "-o", "step.plan")
        self.assertEqual(self.read("step.plan"), "old")
        self.succeed(*self.PLAN, "-o", "step.plan")
        self.assertNotEqual(self.read("step.plan"), "old")
        self.assertEqual(self.names(), ["step.plan", "step.trace"])

    def test_full_disk_on_standard_output(self):
        with open("/dev/full", "w") as full:
            for arguments in (("policies",), ("check", "step.trace"), ("--help",)):
                message = self.fail_with(FAILED, *arguments, stdout=full)
                self.assertIn("cannot write standard output: No space left", message)

    def test_reader_that_goes_away_is_no_error(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROGRAM, "policies"], stdout=write, stderr=subprocess.PIPE,
                              text=True, check=False)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
