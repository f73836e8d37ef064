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


def varint(number):
    low = number & 0x7F
    return bytes([low]) if number < 0x80 else bytes([low | 0x80]) + varint(number >> 7)


def field(number, value):
    """Of a protocol buffer: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value(name, axes):
    """What an ONNX file says of a value; axes are numbers or names."""
    shape = b"".join(field(1, field(1, axis) if isinstance(axis, int) else field(2, axis)) for axis in axes)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def product_model(axes, weight=None, more=b""):
    """An ONNX file: "x" with such axes and 64 at last, times a weight of 64 by 64, and what else is given."""
    weight = field(9, bytes(4 * 64 * 64)) if weight is None else weight
    graph = (field(1, field(1, "x") + field(1, "w") + field(2, "y") + field(4, "MatMul")) +
             field(5, field(1, 64) + field(1, 64) + field(2, 1) + field(8, "w") + weight) +
             field(11, value("x", [*axes, 64])) + field(12, field(1, "y")) + more)
    return field(7, graph) + field(8, field(2, 17))


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
                document = json.loads(self.succeed("estimate", path, "--batch", "2,4", "--json"))
                # Every op is known.
                self.assertEqual(document["warnings"], [])
                small, large = document["estimates"]
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

    def test_the_middle_layer_is_counted_beside_the_formulas(self):
        def formulas(*arguments):
            return json.loads(self.succeed("estimate", *arguments, "--batch", "1", "--json"))["formulas"]

        fused = formulas("gpt2", "--amp", "bf16")
        self.assertFalse(fused["counted_keeps_scores"])
        self.assertLess(fused["counted_layer_activation_bytes"], fused["layer_activation_bytes"])
        self.assertGreater(fused["counted_layer_activation_bytes"], 0.7 * fused["selective_activation_bytes"])
        # With dropout torch's CPU has no fused attention.
        self.assertTrue(formulas("bert_base", "--device", "cpu")["counted_keeps_scores"])
        self.assertIn("never writes the scores down", self.succeed("estimate", "gpt2", "--batch", "1"))

    def test_formulas_have_the_heads_that_the_model_has(self):
        small = ("gpt", "--layers", "2", "--width", "128", "--context", "16", "--batch", "1", "--json")
        implied = json.loads(self.succeed("estimate", *small))["formulas"]
        named = json.loads(self.succeed("estimate", *small, "--heads", "2"))["formulas"]
        self.assertEqual(implied, named)
        self.assertNotEqual(implied, json.loads(self.succeed("estimate", *small, "--heads", "4"))["formulas"])

    def test_several_batches_and_precisions_are_rows_of_one_table(self):
        asked = ("estimate", "small_resnet", "--gpu", "t4", "--json")
        rows = json.loads(self.succeed(*asked, "--batch", "2,4", "--amp", "off,bf16"))["estimates"]
        self.assertEqual([(row["batch"], row["amp"]) for row in rows],
                         [(2, "off"), (4, "off"), (2, "bf16"), (4, "bf16")])
        for row in rows:
            alone = json.loads(self.succeed(*asked, "--batch", str(row["batch"]), "--amp", row["amp"]))
            self.assertEqual(alone["estimates"], [row])
        self.assertEqual(len({row["peak_bytes"] for row in rows}), 4)

    def test_what_fits_only_without_the_margin_says_so(self):
        arguments = ("estimate", "lenet5", "--batch", "64", "--json")
        for device in (("--device", "cpu"), ()):
            row = json.loads(self.succeed(*arguments, *device))["estimates"][0]
            taken = max(row["first_step_peak_bytes"], row["peak_bytes"])
            taken = row.get("reserved_peak_bytes", taken)
            for budget, fit in ((taken, "fits only without the margin"),
                                (int(taken * (1 + row["margin"])) + 1, "fits")):
                told = json.loads(self.succeed(*arguments, *device, "--budget", str(budget)))["estimates"][0]
                self.assertEqual(told["fit"], fit)
                self.assertEqual(told["fits_with_margin"], fit == "fits")

    def test_larger_batches_than_the_largest_that_is_tried_are_not_denied(self):
        arguments = ("estimate", "lenet5", "--device", "cpu", "--budget", "100TiB", "--largest")
        self.assertIn("larger ones were not tried", self.succeed(*arguments))
        document = json.loads(self.succeed(*arguments, "--json"))
        self.assertEqual(document["largest_batch"]["off"], document["largest_batch_tried"])

    def test_external_data_is_never_opened(self):
        # Who opened this one would wait for somebody to write into it.
        os.mkfifo(self.folder / "weights.bin")
        location = field(13, field(1, "location") + field(2, "weights.bin")) + field(14, 1)
        (self.folder / "beside.onnx").write_bytes(product_model(["N"], location))
        location = field(13, field(1, "location") + field(2, "/nowhere/at/all")) + field(14, 1)
        (self.folder / "nowhere.onnx").write_bytes(product_model(["N"], location))
        (self.folder / "inside.onnx").write_bytes(product_model(["N"]))
        inside, beside, nowhere = (json.loads(self.succeed("estimate", name, "--json"))["estimates"]
                                   for name in ("inside.onnx", "beside.onnx", "nowhere.onnx"))
        self.assertEqual(inside, beside)
        self.assertEqual(inside, nowhere)

    def test_what_does_not_go_together_is_guessed_where_the_file_tells_its_result(self):
        # A sum of 64 numbers with 3.
        wrong = (field(1, field(1, "x") + field(1, "b") + field(2, "z") + field(3, "odd\n") + field(4, "Add")) +
                 field(5, field(1, 3) + field(2, 1) + field(8, "b")))
        (self.folder / "wrong.onnx").write_bytes(product_model([2], more=wrong))
        self.assertIn("op Add 'odd ' does not go with its inputs", self.fail_with(FAILED, "estimate", "wrong.onnx"))
        (self.folder / "told.onnx").write_bytes(product_model([2], more=wrong + field(13, value("z", [2, 64]))))
        done = self.run_program("estimate", "told.onnx")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Alowtide: warning: the op Add 'odd ' does not go [^\n]*\n\Z")

    def test_ops_need_nothing_of_torchs_python(self):
        # Torch itself has the shapes of these in Python only, which the program does not have.
        kernel = field(5, field(1, "kernel_shape") + 3 * field(8, 2) + field(20, 7))
        for op in (field(4, "MaxPool") + kernel, field(4, "Abs"), field(4, "HardSwish"), field(4, "Clip"),
                   field(4, "IsNaN")):
            more = field(1, field(1, "y") + field(2, "z") + op) + field(12, field(1, "z"))
            (self.folder / "one.onnx").write_bytes(product_model(["N", 3, 4, 4], more=more))
            with self.subTest(op=op):
                document = json.loads(self.succeed("estimate", "one.onnx", "--batch", "2", "--json"))
                self.assertEqual(document["warnings"], [])

    def test_names_may_be_any_bytes(self):
        (self.folder / "odd.onnx").write_bytes(product_model(["N"]).replace(field(8, "w"), field(8, b"\xff"))
                                               .replace(field(1, "w"), field(1, b"\xff")))
        for options in ((), ("--json",), ("-o", "step.trace")):
            self.succeed("estimate", "odd.onnx", *options)

    def test_axes_are_named(self):
        (self.folder / "named.onnx").write_bytes(product_model(["time", "batch", "beam"]))
        (self.folder / "same.onnx").write_bytes(product_model([7, 3, 5]))

        def peak(*arguments):
            return self.estimated(*arguments)

        # "same.onnx" has sizes in it; its first axis is the batch.
        same = peak("same.onnx", "--batch", "7")
        self.assertEqual(peak("named.onnx", "--batch", "3", "--axis", "time=7,beam=5"), same)
        self.assertEqual(peak("named.onnx", "--batch", "3", "--axis", "time=7", "--size", "5"), same)
        message = self.fail_with(USAGE, "estimate", "named.onnx", "--axis", "beams=5")
        self.assertIn("it has time, beam", message)
        self.assertIn("--batch", self.fail_with(USAGE, "estimate", "named.onnx", "--axis", "batch=5"))
        self.assertIn("--axis time=SIZE", self.fail_with(FAILED, "estimate", "named.onnx", "--axis", "beam=5"))
        for wrong in ("time", "time=0", "time=x", "=4", "time=4,time=5"):
            self.fail_with(USAGE, "estimate", "named.onnx", "--axis", wrong)

    def test_bad_input_gets_one_line(self):
        self.write("empty.onnx", "")
        self.write("other.onnx", "nothing of the sort")
        self.succeed("estimate", "lenet5", "--batch", "1", "-o", "step.trace")
        (self.folder / "cut.onnx").write_bytes(product_model(["N"])[:-10])
        for code, arguments in (
                (FAILED, ("cut.onnx",)), (USAGE, ("resnet18", "--axis", "a=2")),
                (USAGE, ("step.trace", "--axis", "a=2")),
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
