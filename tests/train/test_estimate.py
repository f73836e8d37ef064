# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide estimate` against what the gate counts when the same model is really trained on the CPU."""

import json
import os
import pathlib

from training import DOES_NOT_FIT, FAILED, USAGE, TrainTest

# As small as each family comes. All models of the zoo with LT_ESTIMATE=all, else those marked.
TOKENS = ("--context", "32", "--layers", "2")
PICTURES = {
    "lenet5": ("--size", "32"), "alexnet": ("--size", "96"), "small_resnet": (), "googlenet": ("--size", "64"),
    "inception_v3": ("--size", "299"), "inception_v4": ("--size", "96"), "unet": ("--size", "32"),
}
IN_CI = ("lenet5", "alexnet", "vgg11_bn", "resnet18", "cifar_resnet20", "small_resnet", "densenet121", "googlenet",
         "mobilenet_v2", "unet", "lstm", "vit_ti_16", "bert_base", "gpt2")
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


def options_of(row):
    """What makes the model small: for every model of the zoo."""
    if "context" in row["options"]:
        return TOKENS if "heads" in row["options"] else ("--context", "32")
    if row["name"] in PICTURES:
        return PICTURES[row["name"]]
    return () if row["name"].startswith("cifar") else ("--size", "64")


class Estimate(TrainTest):
    def estimated(self, *arguments):
        text = self.succeed("estimate", *arguments, "--device", "cpu", "--json")
        return json.loads(text)["estimates"][0]["peak_bytes"]

    def trained(self, *arguments):
        text = self.succeed("train", *arguments, "--device", "cpu", "--data", "synthetic", "--steps", "2", "--json")
        return json.loads(text)["peak_bytes"]

    def test_the_peak_is_within_one_percent_of_the_gates(self):
        is_all = os.environ.get("LT_ESTIMATE") == "all"
        rows = json.loads(self.succeed("models", "--json"))["models"]
        for row in rows:
            if not is_all and row["name"] not in IN_CI:
                continue
            arguments = (row["name"], *options_of(row), "--batch", "4", "--optimizer", "adamw")
            with self.subTest(model=row["name"]):
                estimated, trained = self.estimated(*arguments), self.trained(*arguments)
                if is_all:
                    print(f"{row['name']:18} {estimated:12} {trained:12} {estimated / trained - 1:+.3%}", flush=True)
                self.assertAlmostEqual(estimated / trained, 1, delta=WITHIN)

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

    def test_bad_input_gets_one_line(self):
        self.write("empty.onnx", "")
        self.write("other.onnx", "nothing of the sort")
        for code, arguments in (
                (FAILED, ("empty.onnx",)), (FAILED, ("other.onnx",)), (FAILED, ("missing.onnx",)), (FAILED, ("resnet5",)),
                (FAILED, ("resnet18", "--heads", "3")), (USAGE, ("resnet18", "--batch", "0")),
                (USAGE, ("resnet18", "--batch", "4,x")), (USAGE, ("resnet18", "--gpu", "h300")),
                (USAGE, ("resnet18", "--largest")), (USAGE, ("resnet18", "--device", "cpu", "--gpu", "t4")),
                (USAGE, ("resnet18", "--amp", "fp8")), (USAGE, ())):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.fail_with(code, "estimate", *arguments).count("\n"), 1)
