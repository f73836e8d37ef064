# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide profile`: what it prints, and that the planning verbs take the step it records."""

import json

from training import FAILED, INTERRUPTED, MODEL, SMALL, USAGE, TrainTest


class Profile(TrainTest):
    def test_planning_verbs_take_the_step_in_both_forms(self):
        for name, start in (("step.json", "{"), ("step.trace", "lowtide-trace 1\n")):
            with self.subTest(name=name):
                self.succeed("profile", *SMALL, "--optimizer", "adam", "-o", name)
                self.assertTrue(self.read(name).startswith(start))
                facts = json.loads(self.succeed("check", name, "--json"))
                for phase in ("forward", "backward", "optimizer"):
                    self.assertGreater(facts["ops_by_phase"][phase], 0, phase)
                for kind in ("parameter", "gradient", "state", "activation"):
                    self.assertGreater(facts["bytes_by_kind"][kind], 0, kind)
                self.succeed("plan", name, "--budget", "70%", "-o", "step.plan")
                report = json.loads(self.succeed("simulate", name, "step.plan", "--json"))
                self.assertLessEqual(report["peak_bytes"], report["budget_bytes"])
                self.succeed("compare", name, "--budget", "70%", "--policy", "dtr")

    def test_json_tells_what_the_peak_consists_of(self):
        profile = json.loads(self.succeed("profile", *SMALL, "--json", "-o", "step.json"))
        facts = json.loads(self.succeed("check", "step.json", "--json"))
        self.assertEqual((profile["model"], profile["batch"], profile["device"]), ("small_resnet", 32, "cpu"))
        self.assertEqual(profile["trace_digest"], facts["trace_digest"])
        self.assertEqual(profile["plain_peak_bytes"], facts["plain_peak_bytes"])
        self.assertEqual(sum(holder["bytes"] for holder in profile["holders"]), profile["plain_peak_bytes"])
        self.assertEqual(sum(time["calls"] for time in profile["op_times"]), profile["ops"])
        self.assertGreater(profile["step_seconds"], 0)

    def test_memory_and_ops_belong_to_layers(self):
        profile = json.loads(self.succeed("profile", *SMALL, "--optimizer", "adam", "--json", "-o", "step.json"))
        self.assertEqual(sum(profile["peak_bytes_by_kind"].values()), profile["plain_peak_bytes"])
        layers = {}
        for holder in profile["holders"]:
            layers.setdefault(holder["kind"], set()).add(holder["place"])
        for kind in ("parameter", "state"):
            self.assertTrue({"first", "norm", "blocks.0.conv1", "blocks.0.norm2", "head"} <= layers[kind], kind)
            self.assertNotIn("(before the step)", layers[kind])
        self.assertTrue({"first", "blocks.0.conv1"} <= layers["activation"])
        step = json.loads(self.read("step.json"))
        storages = {storage["name"]: storage for storage in step["storages"]}
        for name in ("blocks.0.conv1.weight", "mean/blocks.0.conv1.weight"):
            self.assertEqual(storages[name]["layer"], "blocks.0.conv1")
        convolutions = [op for op in step["ops"] if op["name"].startswith("convolution")]
        for phase in ("forward", "backward"):
            self.assertIn("blocks.0.conv1", [op["layer"] for op in convolutions if op["phase"] == phase])
        without = [op["name"] for op in step["ops"] if op["phase"] == "backward" and "layer" not in op]
        self.assertEqual(without, [])
        self.assertRegex(self.succeed("simulate", "step.json"), r"allocated in \S+ \(op \d+\) of \S+,")

    def test_casts_and_attention_count_as_what_they_are(self):
        """Autocast copies weights, and matmul makes tensors that look like parameters from inside."""
        self.succeed("profile", "gpt", "--layers", "1", "--width", "32", "--heads", "2", "--context", "16",
                     "--batch", "4", "--device", "cpu", "--amp", "bf16", "-o", "step.json")
        step = json.loads(self.read("step.json"))
        parameters = [storage for storage in step["storages"] if storage["kind"] == "parameter"]
        self.assertTrue(all(storage.get("start") and "layer" in storage for storage in parameters))
        self.assertIn("h.0.attn.c_attn", [op["layer"] for op in step["ops"] if op["name"] == "mm"])

    def test_step_is_a_steady_one(self):
        """The gradients of the step before it go in it, and the optimizer's states are there already."""
        self.succeed("profile", *SMALL, "--optimizer", "adam", "-o", "step.json")
        storages = json.loads(self.read("step.json"))["storages"]
        gradients = sum(storage["bytes"] for storage in storages if storage["kind"] == "gradient")
        left_over = sum(storage["bytes"] for storage in storages if storage["name"].startswith("unused"))
        self.assertGreaterEqual(left_over, gradients)
        self.assertTrue(all(storage["start"] for storage in storages if storage["kind"] == "state"))

    def test_tables_say_who_holds_memory_and_what_takes_time(self):
        out = self.succeed("profile", *SMALL)
        self.assertRegex(out, r"\nkind +storages +at the peak +share\n")
        self.assertRegex(out, r"\nactivation +\d+ ")
        self.assertRegex(out, r"\nlayer +kind +storages +at the peak +share\n")
        self.assertRegex(out, r"\nblocks\.\S+ +activation +\d+ ")
        self.assertRegex(out, r"\nconvolution_backward +\d+ ")
        self.assertEqual(self.names(), [])

    def test_step_on_standard_output_stands_alone(self):
        done = self.run_program("profile", *SMALL, "-o", "-")
        self.succeed("check", "-", stdin=done.stdout)
        self.assertIn("at the peak", done.stderr)

    def test_bad_input(self):
        for arguments, message in (((), "MODEL is required"),
                                   (("resnet5",), "unknown model 'resnet5'"),
                                   ((*SMALL, "--budget", "60%"), "unknown option '--budget'"),
                                   ((*SMALL, "--json", "-o", "-"), "name a file")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, "profile", *arguments))
        # Before anything is trained, which would have been said.
        self.assertIn("nowhere/step.json", self.fail_with(FAILED, "profile", *SMALL, "-o", "nowhere/step.json"))

    def test_can_be_interrupted(self):
        for verb, options in (("profile", ("-o", "step.json")), ("compare", ("--budgets", "80%", "--csv", "a.csv"))):
            with self.subTest(verb=verb):
                code, out, err = self.interrupt("capturing a step", verb, *MODEL, "--batch", "1024", *options)
                self.assertEqual((code, out), (INTERRUPTED, ""), err)
                self.assertIn("stopped before a step was recorded; nothing was written", err)
                self.assertEqual(self.names(), [])
