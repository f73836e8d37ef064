# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide train`, `verify` and `models`: what they print, and that budgets and pauses change no bit."""

import collections
import gzip
import json
import math
import pathlib

from training import CHECKPOINT, DOES_NOT_FIT, INTERRUPTED, MODEL, SMALL, SMALL_GPT, SPILLING, TrainTest

SHAKESPEARE = pathlib.Path(__file__).resolve().parents[2] / "data/tiny-shakespeare/tiny-shakespeare.txt.gz"


def unigram_loss():
    """What the evaluated part of the text costs who only knows how frequent its bytes are in the other."""
    text = gzip.decompress(SHAKESPEARE.read_bytes())
    training = len(text) - len(text) // 10
    counts = collections.Counter(text[:training])
    return -sum(math.log(counts[byte] / training) for byte in text[training:]) / (len(text) - training)


class Train(TrainTest):
    def test_json_has_the_names_that_are_promised(self):
        report = json.loads(self.succeed("train", *SMALL, "--steps", "3", "--budget", "60%", "--json"))
        for name in ("model", "device", "policy", "batch", "steps", "budget_bytes", "peak_bytes",
                     "reserved_peak_bytes", "plain_peak_bytes", "step_seconds", "evictions", "recomputes",
                     "recompute_seconds", "bytes_to_host", "bytes_to_disk", "stall_seconds", "plan_seconds", "loss",
                     "accuracy"):
            self.assertIn(name, report)
        self.assertEqual((report["model"], report["steps"]), ("small_resnet", 3))
        self.assertLessEqual(report["peak_bytes"], report["budget_bytes"])
        self.assertAlmostEqual(report["budget_bytes"], 0.6 * report["plain_peak_bytes"], delta=1)
        self.assertGreater(report["evictions"], 0)

    def test_evaluates_on_the_way_and_changes_no_bit(self):
        options = ("--steps", "5", "--budget", "70%")
        report = json.loads(self.succeed("train", *SMALL, *options, "--checkpoint", "often",
                                         "--evaluate-every", "2", "--json"))
        self.assertEqual([found["step"] for found in report["evaluations"]], [2, 4])
        for found in report["evaluations"]:
            self.assertTrue(0 <= found["accuracy"] <= 1)
        self.assertIn("accuracy", report)
        self.assertEqual(self.train("once", *options), self.checkpoint("often"))
        # Four steps are the end, which has its own; what it found then is what was found on the way.
        four = json.loads(self.succeed("train", *SMALL, "--steps", "4", "--evaluate-every", "4", "--json"))
        self.assertNotIn("evaluations", four)
        self.assertEqual(four["accuracy"], report["evaluations"][1]["accuracy"])

    def test_evaluations_are_told_in_lines_of_their_own(self):
        done = self.run_program("train", *SMALL, "--steps", "3", "--evaluate-every", "1")
        self.assertRegex(done.stderr, r"\nafter step 1: accuracy [\d.]+ % of 2000 examples, loss [\d.]+\n")
        self.assertRegex(done.stderr, r"\nafter step 2: ")
        self.assertNotIn("after step 3", done.stderr)

    def test_means_that_may_be_used(self):
        # What cannot be moved stays, and the newest torch's convolutions take more beside it.
        for options, used in ((("--budget", "70%", "--tiers", "none"), (True, False, False)),
                              (("--budget", "60%", "--no-recompute"), (False, True, False)),
                              ((*SPILLING, "."), (False, True, True))):
            with self.subTest(options=options):
                report = json.loads(self.succeed("train", *SMALL, "--steps", "3", *options, "--json"))
                self.assertGreater(report["evictions"], 0)
                self.assertEqual(used, tuple(report[name] > 0 for name in ("recomputes", "bytes_to_host",
                                                                           "bytes_to_disk")))
                self.assertEqual(self.names(), [])

    def test_learns(self):
        report = json.loads(self.succeed("train", *SMALL, "--steps", "60", "--schedule", "cosine",
                                         "--warmup", "5", "--json"))
        self.assertGreater(report["accuracy"], 0.4)

    def test_language_model_learns_more_than_how_frequent_characters_are(self):
        report = json.loads(self.succeed(
            "train", "gpt", "--layers", "1", "--width", "32", "--heads", "2", "--context", "32", "--dropout",
            "0.1", "--batch", "64", "--optimizer", "adamw", "--lr", "0.01", "--amp", "bf16", "--steps", "100",
            "--device", "cpu", "--json"))
        self.assertEqual(report["data"], "tiny-shakespeare")
        # Who knows how frequent pairs are comes to some 2.5.
        self.assertLess(report["evaluation_loss"], unigram_loss() - 0.3)

    def test_deterministic_changes_no_figure_on_a_cpu(self):
        plain = self.train("plain", "--steps", "2")
        self.assertEqual(plain, self.train("deterministic", "--steps", "2", "--deterministic"))

    def test_full_data_set_is_found_and_epochs_are_rounds_through_it(self):
        self.write_pictures("sets/fashion-mnist", training=64, evaluation=16)
        report = json.loads(self.succeed("train", "lenet5", "--device", "cpu", "--data", "fashion-mnist-full",
                                         "--batch", "16", "--epochs", "3", "--json",
                                         environment={"LOWTIDE_DATA": str(self.folder / "sets")}))
        self.assertEqual((report["data"], report["steps"]), ("fashion-mnist-full", 3 * 64 // 16))
        self.assertIn(report["accuracy"], [right / 16 for right in range(17)])

    def test_options_of_single_models(self):
        for model, options in (("inception_v3", ("--size", "75", "--auxiliary", "off", "--batch", "2")),
                               ("lenet5", ("--channels", "3", "--batch", "8")),
                               ("lstm", ("--vocabulary", "300", "--layers", "1", "--width", "8", "--context", "8",
                                         "--batch", "8"))):
            with self.subTest(model=model):
                self.succeed("profile", model, "--device", "cpu", *options)

    def test_progress_in_a_file_is_plain_text(self):
        done = self.run_program("train", *SMALL, "--steps", "2")
        self.assertNotRegex(done.stderr, "[\r\x1b]")
        self.assertRegex(done.stderr, r"step 2 of 2, loss \d\.\d+, \d+ examples/s, [\d.]+ MiB\n")
        self.assertIn("accuracy", done.stdout)

    def test_budget_that_is_far_too_small(self):
        done = self.run_program("train", *SMALL, "--steps", "2", "--budget", "100KiB", "--checkpoint", "run")
        self.assertEqual(done.returncode, DOES_NOT_FIT, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("lowtide: error: ", done.stderr.splitlines()[-1])


class Checkpoints(TrainTest):
    def test_budget_changes_no_bit(self):
        for optimizer in ("sgd", "sgd_plain", "adam", "adamw", "adamw_foreach"):
            with self.subTest(optimizer=optimizer):
                options = ("--steps", "4", "--optimizer", optimizer)
                plain = self.train("plain-" + optimizer, *options)
                tight = self.train("tight-" + optimizer, *options, "--budget", "70%")
                self.assertEqual(plain, tight)

    def test_resuming_changes_no_bit_under_another_budget_either(self):
        whole = self.train("whole", "--steps", "6", "--schedule", "step")
        self.train("parts", "--steps", "6", "--schedule", "step", "--checkpoint-every", "2")
        self.assertEqual(whole, self.checkpoint("parts"))
        self.train("paused", "--steps", "2")
        self.train("paused", "--steps", "4", "--resume", "--budget", "70%")
        # The schedule of the first parts was another, so there is something to tell apart.
        resumed = self.train("paused", "--steps", "6", "--resume", "--budget", "80%")
        self.assertEqual(resumed, self.train("constant", "--steps", "6"))
        self.assertNotEqual(resumed, whole)

    def test_resuming_goes_on_with_the_schedule_that_was(self):
        schedule = ("--lr", "0.01", "--warmup", "3")
        self.train("parts", "--steps", "2", *schedule)
        resumed = self.train("parts", "--steps", "4", "--resume")
        self.assertEqual(resumed, self.train("whole", "--steps", "4", *schedule))
        self.assertNotEqual(resumed, self.train("default", "--steps", "4"))

    def test_schedule_may_be_changed_and_that_is_said(self):
        self.train("run", "--steps", "1", "--lr", "0.01")
        done = self.run_program("train", *SMALL, "--steps", "2", "--checkpoint", "run", "--resume", "--lr", "0.25",
                                "--schedule", "cosine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("as asked for, not as in the checkpoint: --lr 0.25 instead of 0.01, --schedule cosine instead "
                      "of constant\n", done.stderr)
        changed = self.checkpoint("run")
        self.train("kept", "--steps", "1", "--lr", "0.01")
        self.assertNotEqual(changed, self.train("kept", "--steps", "2", "--resume"))
        # The same once more is no change.
        done = self.run_program("train", *SMALL, "--steps", "3", "--checkpoint", "run", "--resume", "--lr", "0.25")
        self.assertNotIn("as asked for", done.stderr)

    def test_seed_decides(self):
        first = self.train("first", "--steps", "1", "--seed", "5")
        self.assertEqual(first, self.train("again", "--steps", "1", "--seed", "5"))
        self.assertNotEqual(first, self.train("other", "--steps", "1", "--seed", "6"))

    def test_what_is_done_is_not_done_again(self):
        done = self.train("run", "--steps", "2")
        self.assertEqual(done, self.train("run", "--steps", "2", "--resume"))

    def test_what_a_killed_run_left_is_removed(self):
        done = self.train("run", "--steps", "2")
        (self.folder / "run" / (CHECKPOINT + ".part")).write_bytes(b"half")
        self.assertEqual(done, self.train("run", "--steps", "2", "--resume"))

    def test_resuming_a_language_model_changes_no_bit_under_another_budget_either(self):
        whole = self.train("whole", "--steps", "6", model=SMALL_GPT)
        self.train("paused", "--steps", "2", model=SMALL_GPT)
        self.train("paused", "--steps", "4", "--resume", "--budget", "70%", model=SMALL_GPT)
        report = json.loads(self.succeed("train", *SMALL_GPT, "--checkpoint", "paused", "--steps", "6", "--resume",
                                         "--budget", "80%", "--json"))
        self.assertGreater(report["evictions"], 0)
        self.assertEqual(whole, self.checkpoint("paused"))
        self.assertNotEqual(whole, self.train("other", "--steps", "6", "--seed", "2", model=SMALL_GPT))

    def test_interrupted_language_model_goes_on_under_another_budget(self):
        # Told in lines that always come, when there are optimizer states to make room for.
        code, out, err = self.interrupt("after step 4:", "train", *SMALL_GPT, "--steps", "100000", "--checkpoint",
                                        "run", "--budget", "70%", "--evaluate-every", "4", "--json")
        self.assertEqual(code, INTERRUPTED, err)
        report = json.loads(out)
        self.assertGreater(report["evictions"], 0)
        stopped = self.checkpoint("run")
        self.assertEqual(stopped, self.train("stopped", "--steps", str(report["steps"]), model=SMALL_GPT))
        steps = ("--steps", str(report["steps"] + 3))
        resumed = self.train("run", *steps, "--resume", "--budget", "80%", model=SMALL_GPT)
        self.assertEqual(resumed, self.train("whole", *steps, model=SMALL_GPT))

    def interrupt_training(self, *options):
        return self.interrupt("step 1 ", "train", *SMALL, "--steps", "100000", *options)

    def test_interrupting_keeps_a_checkpoint_and_says_so(self):
        code, out, err = self.interrupt_training("--checkpoint", "run", "--json")
        self.assertEqual(code, INTERRUPTED, err)
        steps = json.loads(out)["steps"]
        self.assertTrue(json.loads(out)["interrupted"])
        self.assertIn(f"stopped after step {steps}; go on with --resume", err)
        stopped = self.checkpoint("run")
        self.assertEqual(stopped, self.train("whole", "--steps", str(steps)))

    def test_interrupting_without_a_folder_says_that_nothing_was_kept(self):
        code, _, err = self.interrupt_training()
        self.assertEqual(code, INTERRUPTED, err)
        self.assertIn("nothing was kept, for want of --checkpoint", err)

    def test_interrupting_while_the_plain_peak_is_measured(self):
        for verb, options, message in (
                ("train", (), "stopped before the first step; nothing was kept, for want of --checkpoint"),
                ("train", ("--checkpoint", "run"), "stopped before the first step; there is nothing to keep yet"),
                ("verify", (), "")):
            with self.subTest(verb=verb, options=options):
                code, out, err = self.interrupt("measuring ", verb, *MODEL, "--batch", "1024", "--budget", "40%",
                                                *options)
                self.assertEqual(code, INTERRUPTED, err)
                self.assertIn(message, err)
                if verb == "verify":
                    self.assertEqual(out, "interrupted before a step was compared\n")


class Verify(TrainTest):
    def test_says_identical(self):
        out = self.succeed("verify", *SMALL, "--budget", "70%", "--steps", "3")
        self.assertTrue(out.startswith("identical over 3 steps\n"), out)

    def test_interrupted_one_does_not_say_identical(self):
        # Plain training comes first, with lines of its own.
        code, out, err = self.interrupt("training inside", "verify", *SMALL, "--budget", "70%", "--steps", "20",
                                        "--json")
        self.assertEqual(code, INTERRUPTED, err)
        verdict = json.loads(out)
        self.assertIsNone(verdict["identical"])
        self.assertTrue(verdict["interrupted"])
        self.assertLess(verdict["steps"], 20)

    def test_json(self):
        verdict = json.loads(self.succeed("verify", *SMALL, "--budget", "70%", "--steps", "2", "--json"))
        self.assertIs(verdict["identical"], True)
        self.assertNotIn("first_difference", verdict)
        for name in ("plain_step_seconds", "step_seconds", "overhead", "plain_peak_bytes", "budget_bytes"):
            self.assertIn(name, verdict)


class Models(TrainTest):
    def test_lists_them_in_both_forms(self):
        models = json.loads(self.succeed("models", "--json"))["models"]
        table = self.succeed("models")
        self.assertIn("small_resnet", [model["name"] for model in models])
        for model in models:
            self.assertIn(model["name"], table)

    def test_help_of_every_verb(self):
        for verb in ("train", "verify", "profile", "max-batch", "doctor", "models"):
            self.assertIn(verb, self.succeed("--help"))
            self.assertIn("Examples:\n  lowtide " + verb, self.succeed(verb, "--help"))
