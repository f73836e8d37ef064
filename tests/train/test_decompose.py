# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide decompose`: what it finds on a small net, and what it does with bad input."""

import json
import unittest

from training import DOES_NOT_FIT, FAILED, USAGE, TrainTest

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
