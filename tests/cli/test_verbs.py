# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Every verb of the real program: what it prints, as text and as JSON."""

import csv
import io
import json
import pathlib
import os
import pty
import signal
import subprocess
import time
import xml.dom.minidom

from program import DONE, INTERRUPTED, PROGRAM, ProgramTest

UNIT = ("--machine", "unit")


class Help(ProgramTest):
    def test_version_and_help(self):
        self.assertRegex(self.succeed("--version"), r"\Alowtide \d+\.\d+\.\d+\n\Z")
        for verb in ("check", "plan", "simulate", "compare", "policies", "report"):
            self.assertIn(verb, self.succeed("--help"))
            self.assertIn("Examples:\n  lowtide " + verb, self.succeed(verb, "--help"))

    def test_starts_quickly(self):
        def seconds():
            start = time.perf_counter()
            self.succeed("policies")
            return time.perf_counter() - start
        # The best of a few: the machine may be busy with other things.
        self.assertLess(min(seconds() for _ in range(5)), 0.1)


class Policies(ProgramTest):
    def test_docs_are_what_catalogue_and_results_come_to(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        page = subprocess.run([root / "bench" / "policies" / "page", PROGRAM], text=True, capture_output=True, check=False)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertEqual((root / "docs" / "policies.md").read_text(), page.stdout,
                         "print it again with: bench/policies/page > docs/policies.md")
        self.assertTrue(page.stdout.endswith(self.succeed("policies", "--markdown")))

    def test_lists_the_catalogue_in_every_form(self):
        listed = json.loads(self.succeed("policies", "--json"))["policies"]
        names = [policy["name"] for policy in listed]
        self.assertIn("capuchin", names)
        table, page = self.succeed("policies"), self.succeed("policies", "--markdown")
        for policy in listed:
            self.assertIn(policy["name"], table)
            self.assertIn(f"### `{policy['name']}`", page)
            self.assertEqual(json.loads(self.succeed("policies", policy["name"], "--json")), policy)

    def test_says_what_plans_need_and_who_carries_them_out(self):
        page = " ".join(self.succeed("policies", "swapadvisor").split())
        self.assertIn("plans only simulated needs host memory; another order of ops (only simulated)", page)
        page = " ".join(self.succeed("policies", "checkmate").split())
        self.assertIn("plans the engine carries them out needs replays; HiGHS well ", page)
        policy = json.loads(self.succeed("policies", "modnn", "--json"))
        self.assertTrue(policy["executable"])
        self.assertEqual([(need["need"], need["engine_has"]) for need in policy["needs"]],
                         [("host memory", True), ("a choice of implementations", False), ("sub-batches", False)])


class Plan(ProgramTest):
    def test_prints_a_plan_that_check_accepts(self):
        plan = self.succeed("plan", "step.trace", "--budget", "80%", *UNIT)
        self.assertTrue(plan.startswith("lowtide-plan 1\npolicy tide\n"), plan)
        self.write("step.plan", plan)
        self.assertIn("plan ok", self.succeed("check", "step.trace", "step.plan", *UNIT))

    def test_reads_standard_input(self):
        self.assertEqual(self.succeed("plan", "-", "-b", "80%", *UNIT, stdin=self.read("step.trace")),
                         self.succeed("plan", "step.trace", "-b", "80%", *UNIT))

    def test_writes_a_file_in_either_form(self):
        self.assertEqual(self.succeed("plan", "step.trace", "-b", "80%", *UNIT, "-o", "p.json"), "")
        self.assertEqual(json.loads(self.read("p.json"))["format"], "lowtide-plan")
        self.succeed("plan", "step.trace", "-b", "80%", *UNIT, "-o", "p.plan")
        self.assertTrue(self.read("p.plan").startswith("lowtide-plan 1\n"))
        self.assertEqual(self.names(), ["p.json", "p.plan", "step.trace"])
        texts = [self.succeed("simulate", "step.trace", name, *UNIT) for name in ("p.json", "p.plan")]
        self.assertEqual(*texts)

    def test_summary_goes_to_standard_error_and_json_to_standard_output(self):
        done = self.run_program("plan", "step.trace", "-b", "80%", *UNIT, "--json")
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stderr, r"tide: peak .* of .*predicted .*\ntide: \d+ ")
        summary = json.loads(done.stdout)
        self.assertEqual(summary["policy"], "tide")
        self.assertEqual(summary["budget_bytes"], int(summary["plain_peak_bytes"] * 0.8))
        self.assertLessEqual(summary["peak_bytes"], summary["budget_bytes"])
        self.assertEqual(summary["plan"]["format"], "lowtide-plan")
        self.assertAlmostEqual(summary["overhead"],
                               summary["step_seconds"] / summary["plain_step_seconds"] - 1)

    def test_options_reach_the_policy(self):
        policies = json.loads(self.succeed("policies", "--json"))["policies"]
        policy = next(policy for policy in policies if policy["options"])
        option = policy["options"][0]
        self.succeed("plan", "step.trace", "-b", "100%", *UNIT, "--policy", policy["name"],
                     "--option", f"{option['name']}={option['default']}")


class Split(ProgramTest):
    # The plain step takes 31 bytes, 16 of which are workspace.
    STEP = """lowtide-trace 1
name convolution
storage x 8 input start
storage w 1 parameter start end
storage a 6 activation
op conv2d forward workspace=16 : x w -> a
op loss forward : a ->
"""

    def test_sub_batches_are_a_step_of_their_own_with_its_plan(self):
        self.write("conv.trace", self.STEP)
        command = ("plan", "conv.trace", "-b", "20", *UNIT, "--policy", "modnn")
        self.assertIn("smallest budget for modnn is 31 B", self.run_program(*command).stderr)
        self.succeed(*command, "--split", "parts.trace", "-o", "parts.plan")
        self.assertEqual(self.read("parts.trace").count("op conv2d/"), 4)
        self.assertIn("plan ok", self.succeed("check", "parts.trace", "parts.plan", *UNIT))

    def test_is_of_modnn_only(self):
        done = self.run_program("plan", "step.trace", "-b", "80%", *UNIT, "--split", "parts.trace")
        self.assertIn("--split goes with --policy modnn only", done.stderr)


class Simulate(ProgramTest):
    def test_plain_step(self):
        report = json.loads(self.succeed("simulate", "step.trace", *UNIT, "--json", "--timeline"))
        self.assertEqual(report["peak_bytes"], report["plain_peak_bytes"])
        self.assertEqual(report["overhead"], 0)
        self.assertEqual(report["step_seconds"], 6)
        self.assertEqual(sum(report["timeline"][0]["bytes"].values()), 300)

    def test_plan_file_and_policy_give_the_same(self):
        self.succeed("plan", "step.trace", "-b", "80%", *UNIT, "-o", "step.plan")
        from_file = json.loads(self.succeed("simulate", "step.trace", "step.plan", *UNIT, "--json"))
        planned = json.loads(self.succeed("simulate", "step.trace", "-b", "80%", *UNIT, "--json"))
        del from_file["plan_seconds"], planned["plan_seconds"]
        self.assertEqual(from_file, planned)
        for name in ("links", "stalls", "lower_bounds", "reserved_peak_bytes", "tier_peak_bytes"):
            self.assertIn(name, planned)

    def test_draws_without_escape_codes_when_piped(self):
        text = self.succeed("simulate", "step.trace", *UNIT)
        self.assertNotIn("\x1b", text)
        for word in ("▼ peak", "forward", "backward", "at peak", "activation", "stalls", "at least"):
            self.assertIn(word, text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_draws_in_ascii_where_the_locale_is_not_utf8(self):
        text = self.succeed("simulate", "step.trace", *UNIT, environment={"LC_ALL": "C"})
        self.assertTrue(text.isascii())
        self.assertIn("v peak", text)

    def test_no_timeline_and_width(self):
        self.assertNotIn("at peak", self.succeed("simulate", "step.trace", *UNIT, "--no-timeline"))
        wide = self.succeed("simulate", "step.trace", *UNIT, "--width", "140")
        self.assertEqual(max(len(line) for line in wide.splitlines()), 140)

    def test_chrome_trace(self):
        self.succeed("simulate", "step.trace", "-b", "80%", *UNIT, "--chrome", "chrome.json")
        events = json.loads(self.read("chrome.json"))["traceEvents"]
        ops = [event["name"] for event in events if event["ph"] == "X"]
        self.assertEqual(ops, ["f1", "f2", "f3", "b3", "b2", "b1"])


class Compare(ProgramTest):
    def test_sets_policies_side_by_side(self):
        text = self.succeed("compare", "step.trace", "--budget", "100%,80%,1", *UNIT,
                            "--policy", "keep_all,capuchin")
        self.assertRegex(text, r"100 %, 600 B +\* keep_all +0\.0 % +\S+ s +600 B")
        self.assertRegex(text, r"80 %, 480 B +\* capuchin +\S+ %")
        self.assertRegex(text, r"\n +keep_all +refused \(min 600 B\) in \S+ \S+: ")
        self.assertNotIn("\x1b", text)

    def test_json_has_a_row_for_each_budget_and_policy(self):
        self.write("other.trace", self.read("step.trace").replace("chain", "other"))
        document = json.loads(self.succeed("compare", "step.trace", "other.trace", "-b", "100%,80%",
                                           *UNIT, "--policy", "keep_all,capuchin", "--json"))
        self.assertEqual([c["trace"] for c in document["comparisons"]], ["chain", "other"])
        rows = document["comparisons"][0]["plans"]
        self.assertEqual([(row["budget"], row["policy"]) for row in rows],
                         [("100%", "keep_all"), ("100%", "capuchin"),
                          ("80%", "capuchin"), ("80%", "keep_all")])
        self.assertTrue(rows[3]["refused"])
        self.assertEqual(rows[3]["smallest_budget_bytes"], 600)
        self.assertEqual([row["best"] for row in rows[2:]], [True, False])

    def test_other_forms_hold_the_same_rows(self):
        self.succeed("compare", "step.trace", "-b", "100%,80%", *UNIT, "--policies", "keep_all,capuchin",
                     "--csv", "a.csv", "--svg", "a.svg", "--html", "a.html")
        rows = list(csv.DictReader(io.StringIO(self.read("a.csv"))))
        self.assertEqual([(row["budget"], row["policy"], row["refused"]) for row in rows],
                         [("100%", "keep_all", "0"), ("100%", "capuchin", "0"),
                          ("80%", "capuchin", "0"), ("80%", "keep_all", "1")])
        self.assertEqual(rows[3]["smallest_budget_bytes"], "600")
        picture = xml.dom.minidom.parseString(self.read("a.svg"))
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)
        self.assertEqual(self.read("a.html").count("<tr class="), 4)

    def test_a_search_can_be_stopped(self):
        trace = pathlib.Path(__file__).resolve().parents[2] / "data" / "traces" / "unet.trace"
        stopped = json.loads(self.succeed("plan", str(trace), "-b", "50%", "-p", "tide", "--think", "0.001", "--json"))
        self.assertTrue(stopped["stopped_early"])
        self.assertLessEqual(stopped["peak_bytes"], stopped["budget_bytes"])
        whole = json.loads(self.succeed("plan", "step.trace", "-b", "80%", *UNIT, "-p", "capuchin", "--think", "60", "--json"))
        self.assertFalse(whole["stopped_early"])

    def test_all_policies_by_default(self):
        count = len(json.loads(self.succeed("policies", "--json"))["policies"])
        for policies in ((), ("--policies", "all")):
            document = json.loads(self.succeed("compare", "step.trace", "-b", "100%", *UNIT, *policies, "--json"))
            self.assertEqual(len(document["comparisons"][0]["plans"]), count)


class Interrupted(ProgramTest):
    """Ctrl-C while a policy searches."""

    GPT = pathlib.Path(__file__).resolve().parents[2] / "data" / "traces" / "gpt.trace"

    def stopped(self, *arguments, seen):
        """The program's output and exit code, with Ctrl-C once its terminal has shown a text."""
        ours, theirs = pty.openpty()
        child = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        shown = b""
        while seen.encode() not in shown:
            shown += os.read(ours, 65536)
        child.send_signal(signal.SIGINT)
        output = child.communicate(timeout=60)[0]
        os.close(ours)
        return output, child.returncode

    def test_plan_writes_its_best_so_far(self):
        search = ("-p", "swapadvisor", "--option", "generations=1000000", "-o", "step.plan", "--json")
        output, code = self.stopped("plan", str(self.GPT), "-b", "60%", *search, seen="is searching")
        self.assertEqual(code, INTERRUPTED)
        self.assertTrue(json.loads(output)["stopped_early"])
        self.assertIn("plan ok", self.succeed("check", str(self.GPT), "step.plan"))

    def test_compare_tells_what_it_has(self):
        budgets = ("-b", "60%,59%,58%,57%,56%", "-p", "belady,tide")
        output, code = self.stopped("compare", str(self.GPT), *budgets, "--json", "--csv", "a.csv", seen="tide at 60% (2 of 10), 1 s")
        self.assertEqual(code, INTERRUPTED)
        plans = json.loads(output)["comparisons"][0]["plans"]
        self.assertEqual([(row["policy"], row["budget"]) for row in plans], [("tide", "60%"), ("belady", "60%")])
        self.assertTrue(plans[0]["stopped_early"])
        self.assertEqual(len(self.read("a.csv").splitlines()), 3)


class Check(ProgramTest):
    def test_summarises_a_trace(self):
        text = self.succeed("check", "step.trace", *UNIT)
        self.assertRegex(text, r"ops +6: 3 forward, 2 backward, 1 optimizer; 2 in place")
        self.assertRegex(text, r"plain peak +600 B in b3 \(op 3\)")
        summary = json.loads(self.succeed("check", "step.trace", *UNIT, "--json"))
        self.assertEqual(summary["ops"], 6)
        self.assertEqual(summary["plain_peak_bytes"], 600)
        self.assertEqual(summary["bytes_by_kind"]["activation"], 300)

    def test_converts_there_and_back(self):
        self.succeed("check", "step.trace", "--to", "json", "-o", "step.json")
        self.assertEqual(json.loads(self.read("step.json"))["format"], "lowtide-trace")
        self.assertEqual(self.succeed("check", "step.json", "--to", "text"),
                         self.succeed("check", "step.trace", "--to", "text"))

    def test_imports_a_log(self):
        self.write("tiny.log", """{"INSTRUCTION": "CONSTANT", "NAME": "x0"}
{"INSTRUCTION": "MEMORY", "NAME": "x0", "MEMORY": "16"}
{"ARGS": ["x0"], "INSTRUCTION": "CALL", "NAME": "relu", "RESULT": ["x1"], "TIME": "5"}
{"INSTRUCTION": "MEMORY", "NAME": "x1", "MEMORY": "32"}
{"INSTRUCTION": "ALIAS", "NAME": "x1", "ALIAS": "-1"}
""")
        summary = json.loads(self.succeed("check", "tiny.log", "--json"))
        self.assertEqual((summary["trace"], summary["ops"]), ("tiny", 1))


class Terminal(ProgramTest):
    """On a terminal there is colour, unless the user does not want any."""

    def shown(self, **environment):
        ours, theirs = pty.openpty()
        variables = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm", **environment}
        if "NO_COLOR" not in environment:
            variables.pop("NO_COLOR", None)
        child = subprocess.Popen([PROGRAM, "simulate", "step.trace", *UNIT], cwd=self.folder,
                                 env=variables, stdout=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 65536):
                text += chunk
        except OSError:  # how the end shows on Linux
            pass
        os.close(ours)
        self.assertEqual(child.wait(), DONE)
        return text.decode()

    def test_colour(self):
        self.assertIn("\x1b[", self.shown())
        self.assertNotIn("\x1b[", self.shown(NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.shown(TERM="dumb"))
