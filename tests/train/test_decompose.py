# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide decompose`: what it finds on a small net, and what it does with bad input."""

import json
import os
import unittest

from training import DOES_NOT_FIT, FAILED, INTERRUPTED, USAGE, TrainTest

NET = ("lenet5", "--device", "cpu", "--batch", "100")


class Decompose(TrainTest):
    CASES = [
        (("decompose",), "MODEL is required"),
        (("decompose", *NET, "--method", "tuker2"), "did you mean 'tucker2'?"),
        (("decompose", *NET, "--rank", "0"), "--rank: a rank must be a whole number of at least 1, not 0; the nearest is 1"),
        (("decompose", *NET, "--rank", "many"), "unknown rank 'many'; known are evbmf"),
        (("decompose", *NET, "--rank", "energy=2"), "energy must be between 0 and 1, such as energy=0.5, not 2"),
        (("decompose", *NET, "--max-accuracy-loss", "-1"), "--max-accuracy-loss"),
        (("decompose", *NET, "--budget", "lots"), "not a size: 'lots'"),
        (("decompose", *NET, "--max-batch-within", "40%"), "is a size, such as 8GiB"),
        (("decompose", *NET, "--merge"), "add --output FILE"),
        (("decompose", *NET, "--forms", "f.json", "--rank", "3"), "--forms excludes --rank"),
        (("decompose", *NET, "--think", "0"), "--think"),
        (("train", *NET, "--forms", "f.json", "--weights", "w"), "--weights excludes --forms"),
    ]

    def test_bad_options_are_named_with_what_to_do(self):
        for arguments, message in self.CASES:
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.fail_with(USAGE, *arguments))

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_trained(self):
        os.mkfifo(self.folder / "pipe")
        for file, code, message in (("nowhere/weights", FAILED, "nowhere"), (".", FAILED, "."),
                                    ("pipe", USAGE, "pipe is there and is no plain file")):
            with self.subTest(file):
                done = self.run_program("decompose", *NET, "-o", file)
                self.assertEqual(code, done.returncode, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertNotIn("training", done.stderr)

    def interrupt_decompose(self, line_start, *options):
        """Of a net whose accuracy does not come back at a rank of 1."""
        if not (self.folder / "run").exists():
            self.succeed("train", *NET, "--steps", "60", "--checkpoint", "run")
        code, out, err = self.interrupt(line_start, "decompose", *NET, "--checkpoint", "run", "--rank", "1",
                                        "--method", "tucker2", "--everywhere", "--max-accuracy-loss", "0", "--json", *options)
        self.assertEqual(INTERRUPTED, code, err)
        return out, err

    def test_what_was_fine_tuned_until_it_was_stopped_is_kept(self):
        endless = ("--epochs", "1000")
        out, err = self.interrupt_decompose("step 1 ", *endless, "-o", "weights.safetensors")
        found = json.loads(out)
        self.assertIn(f"stopped after step {found['fine_tuning_steps']} of fine-tuning; weights.safetensors has the "
                      "weights", err)
        self.assertIn("go on with 'lowtide train lenet5 --weights weights.safetensors'", err)
        self.assertEqual("weights.safetensors", found["output"])
        self.succeed("train", *NET, "--weights", "weights.safetensors", "--steps", "1")
        out, err = self.interrupt_decompose("step 1 ", *endless)
        self.assertIn("nothing was kept, for want of --output", err)
        self.assertNotIn("output", json.loads(out))
        out, err = self.interrupt_decompose("measuring what each layer could become", *endless, "-o", "other")
        self.assertEqual("", out)
        self.assertIn("stopped before anything was fine-tuned; nothing was kept", err)
        self.assertFalse((self.folder / "other").exists())

    def test_what_was_done_before_ranks_were_raised_or_batches_tried_is_kept(self):
        for line, stopped, options in (("the accuracy is not back", "while higher ranks were tried", ()),
                                       ("batch ", "before the largest batch was found",
                                        ("--raises", "0", "--max-batch-within", "6MiB"))):
            with self.subTest(stopped):
                out, err = self.interrupt_decompose(line, "--epochs", "1", "-o", "weights.safetensors", *options)
                self.assertIn(f"stopped {stopped}; weights.safetensors has the weights", err)
                found = json.loads(out)
                self.assertEqual((stopped, 0), (found["stopped"], found["raises"]))
                self.assertNotIn("max_batch", found)
                self.assertEqual({"svd 1", "tucker2 1x1"}, {layer["form"] for layer in found["layers"]} - {"dense"})
                again = json.loads(self.succeed("train", *NET, "--weights", "weights.safetensors", "--steps", "1",
                                                "--lr", "1e-9", "--json"))
                self.assertAlmostEqual(found["accuracy_after_fine_tuning"], again["accuracy"], places=3)

    def raised(self, *options):
        """What is told of ranks that were raised: nothing is trained, so the accuracy is not back."""
        self.succeed("train", *NET, "--steps", "60", "--checkpoint", "run")
        done = self.run_program("decompose", *NET, "--checkpoint", "run", "--max-accuracy-loss", "0",
                                "--epochs", "0", "--json", *options)
        self.assertIn(done.returncode, (0, FAILED), done.stderr)
        return json.loads(done.stdout)

    def test_layers_that_are_dense_again_tell_why_whether_they_paid_or_not(self):
        found = self.raised("--rank", "1", "--method", "tucker2", "--everywhere", "--raises", "4")
        self.assertGreater(found["raises"], 0)
        # All that had an option were decomposed.
        again = [layer for layer in found["layers"] if layer["form"] == "dense" and "best_option" in layer]
        self.assertTrue(again, found["layers"])
        for layer in again:
            self.assertRegex(layer["reason"], "^dense again, for the accuracy: it raised the loss by ")

    def test_what_was_tried_is_told_although_the_net_is_dense_in_the_end(self):
        # So few ranks of the last layer cannot tell ten classes apart.
        (self.folder / "forms.json").write_text('{"output": "svd 1"}', encoding="utf-8")
        found = self.raised("--forms", "forms.json")
        self.assertEqual({"dense"}, {layer["form"] for layer in found["layers"]})
        self.assertNotIn("accuracy_after_fine_tuning", found)
        attempts = found["before_raises"]
        # One before each raise, and the last, after which it was made dense.
        self.assertEqual(found["raises"] + 1, len(attempts))
        for attempt in attempts:
            self.assertEqual(1, attempt["layers"])
            self.assertLess(attempt["parameters"], found["parameters"])
            self.assertLess(attempt["accuracy_after_fine_tuning"], found["accuracy_before"])

    def last_line_of_failure(self, code, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(code, done.returncode, done.stderr)
        return done.stderr.splitlines()[-1]

    def check_forms(self, forms, started):
        (self.folder / "forms.json").write_text(json.dumps(forms), encoding="utf-8")
        again = json.loads(self.succeed(*started, "--forms", "forms.json", "--epochs", "0", "--raises", "0",
                                        "--max-accuracy-loss", "100", "--json"))
        self.assertEqual(forms, {layer["layer"]: layer["form"] for layer in again["layers"]})
        self.assertIn("identical", self.succeed("verify", *NET, "--forms", "forms.json", "--steps", "2",
                                                "--budget", "12MiB"))
        (self.folder / "forms.json").write_text('{"c55": "svd 3"}', encoding="utf-8")
        for verb in (started, ("train", *NET, "--steps", "1")):
            self.assertIn("did you mean 'c5'", self.last_line_of_failure(FAILED, *verb, "--forms", "forms.json"))
        (self.folder / "forms.json").write_text("[]", encoding="utf-8")
        self.assertIn("forms.json: forms are a JSON object",
                      self.last_line_of_failure(FAILED, *started, "--forms", "forms.json"))

    def test_untrained_weights_stay_dense_unless_they_are_asked_for(self):
        self.succeed("train", *NET, "--steps", "1", "--lr", "1e-9", "--checkpoint", "fresh")
        linear = {"c5": "svd 12", "f6": "svd 12"}
        (self.folder / "forms.json").write_text(json.dumps(linear), encoding="utf-8")
        fresh = ("decompose", *NET, "--checkpoint", "fresh", "--forms", "forms.json", "--epochs", "0",
                 "--raises", "0", "--max-accuracy-loss", "100")
        self.assertIn("layer 'c5' cannot become svd 12: its weight looks untrained; --untrained",
                      self.last_line_of_failure(FAILED, *fresh))
        found = json.loads(self.succeed(*fresh, "--untrained", "--json"))
        self.assertLessEqual({"c5", "f6"}, set(found["untrained_layers"]))
        self.assertEqual(linear, {layer["layer"]: layer["form"] for layer in found["layers"]
                                  if layer["form"] != "dense"})

    def test_from_a_checkpoint_to_weights_and_back(self):
        self.assertIn("there is no checkpoint in nowhere",
                      self.last_line_of_failure(FAILED, "decompose", *NET, "--checkpoint", "nowhere"))
        self.assertEqual(self.names(), [])
        self.assertIn("cannot write nowhere/weights",
                      self.fail_with(FAILED, "decompose", *NET, "-o", "nowhere/weights"))
        self.succeed("train", *NET, "--steps", "60", "--checkpoint", "run")
        started = ("decompose", *NET, "--checkpoint", "run")
        self.assertIn("the largest rank that could help is",
                      self.last_line_of_failure(FAILED, *started, "--rank", "5000"))
        refusal = self.last_line_of_failure(DOES_NOT_FIT, *started, "--budget", "100KiB")
        self.assertIn("The smallest budget that was found to work is", refusal)
        found = json.loads(self.succeed(*started, "--rank", "compression=0.5", "--everywhere", "--max-accuracy-loss",
                                        "30", "--json", "-o", "weights.safetensors"))
        self.assertLess(found["parameters"], 0.6 * found["parameters_before"])
        self.assertTrue(found["accuracy_is_back"])
        forms = {layer["layer"]: layer["form"] for layer in found["layers"]}
        self.assertTrue(forms["c5"].startswith("svd "), forms)
        header = (self.folder / "weights.safetensors").read_bytes()
        self.assertIn(b'"c5.weight_in"', header)
        self.assertIn(b'"form/c5"', header)
        self.assertNotIn(b'"c5.weight"', header)
        again = json.loads(self.succeed("train", *NET, "--weights", "weights.safetensors", "--steps", "1",
                                        "--lr", "1e-9", "--json"))
        self.assertAlmostEqual(again["accuracy"], found["accuracy_after_fine_tuning"], places=3)
        # Nearly all of it are workspaces of convolutions, which cannot leave.
        verdict = self.succeed("verify", *NET, "--weights", "weights.safetensors", "--steps", "2",
                               "--budget", "12MiB")
        self.assertIn("identical", verdict)
        self.check_forms(forms, started)
        self.assertIn("has the weights of lenet5, not of small_resnet",
                      self.last_line_of_failure(FAILED, "train", "small_resnet", "--weights",
                                                "weights.safetensors"))


if __name__ == "__main__":
    unittest.main()
