# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide estimate` against what the gate counts when the same model is really trained on the CPU."""

import json
import os
import pathlib

from training import DOES_NOT_FIT, FAILED, USAGE, TrainTest

# What makes each model small, by its name or the beginning of it: the longest that matches.
SMALLER = {
    "": ("--size", "64"), "lenet5": ("--size", "32"), "alexnet": ("--size", "96"), "vgg": ("--size", "32"),
    "small_resnet": (), "cifar": (), "inception_v3": ("--size", "299"), "inception_v4": ("--size", "96"),
    "unet": ("--size", "32"), "lstm": ("--context", "16"), "vit": ("--size", "32", "--layers", "2"),
    "bert": ("--context", "16", "--layers", "2"), "gpt": ("--context", "16", "--layers", "2"),
}
BATCH = "2"
WITHIN = 0.01
# What PyPI's onnx ships with it; with how many numbers are trained where papers or torchvision tell.
LIGHT = {"bvlc_alexnet": 60_965_224, "densenet121": None, "inception_v1": None, "inception_v2": None,
         "resnet50": 25_557_032, "shufflenet": None, "squeezenet": 1_235_496, "vgg19": 143_667_240, "zfnet512": None}


def light_models():
    """The folder of onnx's models, or None."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for folder in root.glob(".venv/lib/python3*/site-packages/onnx/backend/test/data/light"):
        return folder
    return None


def options_of(name):
    return SMALLER[max((start for start in SMALLER if name.startswith(start)), key=len)]


class Estimate(TrainTest):
    def estimated(self, *arguments):
        text = self.succeed("estimate", *arguments, "--device", "cpu", "--states", "start", "--json")
        return json.loads(text)["estimates"][0]["peak_bytes"]

    def trained(self, *arguments):
        text = self.succeed("train", *arguments, "--device", "cpu", "--data", "synthetic", "--steps", "2", "--json")
        return json.loads(text)["peak_bytes"]

    def test_the_peak_of_every_model_is_within_one_percent_of_the_gates(self):
        for row in json.loads(self.succeed("models", "--json"))["models"]:
            arguments = (row["name"], *options_of(row["name"]), "--batch", BATCH, "--optimizer", "adamw")
            with self.subTest(model=row["name"]):
                estimated, trained = self.estimated(*arguments), self.trained(*arguments)
                if "LT_ESTIMATE" in os.environ:
                    print(f"{row['name']:18} {estimated:12} {trained:12} {estimated / trained - 1:+.3%}", flush=True)
                self.assertAlmostEqual(estimated / trained, 1, delta=WITHIN)

    def test_the_peak_is_right_with_every_optimizer(self):
        # Where an update's temporaries are the peak: many weights, few activations.
        for optimizer in ("sgd_plain", "sgd", "adam", "adamw", "adam_foreach", "adamw_foreach"):
            arguments = ("lenet5", "--batch", "1", "--optimizer", optimizer)
            with self.subTest(optimizer=optimizer):
                self.assertAlmostEqual(self.estimated(*arguments) / self.trained(*arguments), 1, delta=WITHIN)

    def test_a_step_that_does_not_fit_is_planned(self):
        whole = json.loads(self.succeed("estimate", "resnet18", "--batch", "16", "--json"))["estimates"][0]
        budget = str(whole["peak_bytes"] * 8 // 10)
        planned = json.loads(self.succeed("estimate", "resnet18", "--batch", "16", "--budget", budget, "--json"))
        self.assertEqual(planned["estimates"][0]["fit"], "fits under Lowtide")
        self.assertGreaterEqual(planned["estimates"][0]["overhead"], 0)
        message = self.fail_with(DOES_NOT_FIT, "estimate", "resnet18", "--batch", "16", "--budget", "1MiB")
        self.assertIn("would do", message)

    def test_the_largest_batch_fits_and_the_next_does_not(self):
        arguments = ("estimate", "lenet5", "--device", "cpu", "--budget", "8MiB")
        largest = json.loads(self.succeed(*arguments, "--largest", "--json"))["largest_batch"]["off"]
        rows = json.loads(self.succeed(*arguments, "--batch", f"{largest},{largest + 1}", "--json"))["estimates"]
        self.assertEqual(rows[0]["fit"], "fits")
        self.assertNotEqual(rows[1]["fit"], "fits")

    def test_a_trace_is_estimated_as_it_is(self):
        self.succeed("estimate", "lenet5", "--batch", "8", "-o", "step.trace")
        self.assertIn("as traced", self.succeed("estimate", "step.trace", "--gpu", "t4"))

    def test_models_of_onnx_grow_with_the_batch(self):
        folder = light_models()
        if folder is None:
            self.skipTest("PyPI's onnx is not installed")
        for name, parameters in LIGHT.items():
            with self.subTest(model=name):
                path = str(folder / f"light_{name}.onnx")
                small, large = json.loads(self.succeed("estimate", path, "--batch", "2,4", "--json"))["estimates"]
                self.assertEqual(small["bytes_by_kind_at_peak"]["parameter"],
                                 large["bytes_by_kind_at_peak"]["parameter"])
                self.assertGreater(large["peak_bytes"], small["peak_bytes"])
                if parameters is not None:
                    self.assertEqual(small["bytes_by_kind_at_peak"]["parameter"], 4 * parameters)

    def test_a_file_that_is_called_like_a_gpt_is_a_file(self):
        folder = light_models()
        if folder is None:
            self.skipTest("PyPI's onnx is not installed")
        (self.folder / "gpt2.onnx").write_bytes((folder / "light_squeezenet.onnx").read_bytes())
        self.assertNotIn("formulas", json.loads(self.succeed("estimate", "gpt2.onnx", "--json")))

    def test_formulas_stand_beside_what_is_counted(self):
        for model in ("gpt2", "bert_base"):
            formulas = json.loads(self.succeed("estimate", model, "--batch", "1", "--json"))["formulas"]
            for figure in ("parameters", "flops"):
                self.assertAlmostEqual(formulas["counted_" + figure] / formulas[figure], 1, delta=0.05)

    def test_bad_input_gets_one_line(self):
        self.write("empty.onnx", "")
        self.write("other.onnx", "nothing of the sort")
        self.succeed("estimate", "lenet5", "--batch", "1", "-o", "step.trace")
        for code, arguments in (
                (FAILED, ("empty.onnx",)), (FAILED, ("other.onnx",)), (FAILED, ("missing.onnx",)), (FAILED, ("resnet5",)),
                (FAILED, ("resnet18", "--heads", "3")), (USAGE, ("resnet18", "--batch", "0")),
                (USAGE, ("resnet18", "--batch", "4,x")), (USAGE, ("resnet18", "--gpu", "h300")),
                (USAGE, ("resnet18", "--largest")), (USAGE, ("resnet18", "--device", "cpu", "--gpu", "t4")),
                (USAGE, ("resnet18", "--amp", "fp8")), (USAGE, ()),
                # What means nothing for a file is no option for it.
                (USAGE, ("step.trace", "--batch", "2")), (USAGE, ("step.trace", "--optimizer", "adam")),
                (USAGE, ("step.trace", "--amp", "bf16")), (USAGE, ("step.trace", "--size", "64")),
                (USAGE, ("other.onnx", "--layers", "2")), (USAGE, ("other.onnx", "--heads", "2")),
                (USAGE, ("other.onnx", "--size", "2", "--context", "2"))):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.fail_with(code, "estimate", *arguments).count("\n"), 1)
