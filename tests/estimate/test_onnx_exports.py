# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What torch.onnx exports of the zoo's families is read and estimated, every op of it known."""

import io
import random
import unittest
import warnings

import torch
from torch import nn

from dry import estimate

try:
    import onnx
    import torchvision
    import transformers
except ImportError as missing:
    raise unittest.SkipTest(str(missing)) from missing

SMALL_BERT = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64,
              "vocab_size": 64, "max_position_embeddings": 32}


class Recurrent(nn.Module):
    def __init__(self, layer, **options):
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.layer = layer(16, 16, **options)
        self.head = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 50)

    def forward(self, x):
        return self.head(self.layer(self.table(x))[0]).flatten(0, 1)


class Unet(nn.Module):
    """One level of it, with norms and ways up of several kinds."""

    def __init__(self, up):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU())
        self.below = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.SiLU())
        self.up = up
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, x):
        side = self.down(x)
        return self.head(torch.cat([side, self.up(self.below(side))], 1))


def bert(attention):
    return transformers.BertForMaskedLM(transformers.BertConfig(**SMALL_BERT, attn_implementation=attention))


def pictures(size=64):
    return (torch.zeros(2, 3, size, size),)


def tokens(*sizes):
    return (torch.zeros(*sizes, dtype=torch.long),)


def zoo(name, **options):
    return lambda: getattr(torchvision.models, name)(weights=None, **options)


# (name, how to make the module, its inputs, which axis of them is the batch)
EXPORTS = [
    ("alexnet", zoo("alexnet"), pictures(224), 0),
    ("vgg11_bn", zoo("vgg11_bn"), pictures(224), 0),
    ("resnet18", zoo("resnet18"), pictures(), 0),
    ("densenet121", zoo("densenet121"), pictures(), 0),
    ("googlenet", zoo("googlenet", init_weights=False), pictures(), 0),
    ("inception_v3", zoo("inception_v3", init_weights=False), pictures(299), 0),
    ("mobilenet_v2", zoo("mobilenet_v2"), pictures(), 0),
    ("vit", lambda: torchvision.models.VisionTransformer(32, 8, 2, 2, 32, 64), pictures(32), 0),
    ("lstm", lambda: Recurrent(nn.LSTM, num_layers=2), tokens(5, 2), 1),
    ("lstm both ways", lambda: Recurrent(nn.LSTM, bidirectional=True, batch_first=True), tokens(2, 5), 0),
    ("gru", lambda: Recurrent(nn.GRU, num_layers=2), tokens(5, 2), 1),
    ("rnn", lambda: Recurrent(nn.RNN), tokens(5, 2), 1),
    ("unet", lambda: Unet(nn.ConvTranspose2d(8, 8, 2, stride=2)), pictures(32), 0),
    ("bert", lambda: bert("eager"), tokens(2, 16), 0),
]


def exported(make, inputs, axis):
    """The bytes of the file, and how many numbers are trained."""
    module, file = make().train(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, file, dynamo=False, do_constant_folding=False, input_names=["x"],
                          training=torch.onnx.TrainingMode.TRAINING, dynamic_axes={"x": {axis: "batch"}})
    return file.getvalue(), sum(p.numel() for p in module.parameters())


def estimated(file, batch=2, free_axis=0):
    return estimate.onnx(torch.frombuffer(bytearray(file), dtype=torch.uint8), batch, free_axis)


def small_graph(op, inputs=("x",)):
    """A product of pictures with a weight, some op on it, and a sum; "k" is a kernel."""
    helper = onnx.helper
    kernel = helper.make_tensor("k", onnx.TensorProto.FLOAT, [4, 4, 2, 2], [0.0] * 64)
    weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, [4, 4], [0.0] * 16)
    nodes = [helper.make_node("MatMul", ["in", "w"], ["x"]), op(inputs),
             helper.make_node("ReduceSum", ["y"], ["out"], keepdims=0)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "small", [value("in", onnx.TensorProto.FLOAT, ["N", 4, 4, 4])],
                              [value("out", onnx.TensorProto.FLOAT, [])], [weight, kernel])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def node(name, **attributes):
    return lambda inputs: onnx.helper.make_node(name, list(inputs), ["y"], **attributes)


class OnnxExports(unittest.TestCase):
    def test_every_op_of_them_is_known(self):
        for name, make, inputs, axis in EXPORTS:
            with self.subTest(model=name):
                file, parameters = exported(make, inputs, axis)
                # Where the batch is not the first axis, the first has a size in the file.
                peak, notes = estimated(file, *((2,) if axis == 0 else (5, 2)))
                self.assertEqual(notes, [])
                # Weights, their gradients and velocities at least.
                self.assertGreater(peak, 3 * 4 * 0.9 * parameters)

    def test_an_op_that_is_not_known_is_named_and_counts(self):
        for op in (node("Bogus"), node("NonZero"), node("If")):
            peak, notes = estimated(small_graph(op))
            self.assertEqual(len(notes), 1)
            self.assertIn("is not known", notes[0])
            self.assertGreaterEqual(peak, estimated(small_graph(node("Relu")))[0])

    def test_an_op_that_is_not_known_may_compute_a_shape(self):
        helper = onnx.helper
        weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, [4, 4], [0.0] * 16)
        nodes = [helper.make_node("MatMul", ["in", "w"], ["x"]), helper.make_node("Shape", ["x"], ["s"]),
                 helper.make_node("Bogus", ["s"], ["t"]), helper.make_node("Reshape", ["x", "t"], ["y"]),
                 helper.make_node("ReduceSum", ["y"], ["out"], keepdims=0)]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "shaped", [value("in", onnx.TensorProto.FLOAT, ["N", 4])],
                                  [value("out", onnx.TensorProto.FLOAT, [])], [weight])
        _, notes = estimated(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
                             .SerializeToString())
        self.assertEqual(len(notes), 2)
        self.assertIn("'Bogus'", notes[0])
        self.assertIn("'Reshape'", notes[1])

    def test_a_node_without_inputs_is_an_error_of_the_file(self):
        with self.assertRaisesRegex(RuntimeError, "Identity.*lacks its input"):
            estimated(small_graph(node("Identity"), inputs=()))

    def test_numbers_beyond_64_bits_are_errors_of_the_file(self):
        huge = 2 ** 62
        for op, inputs in ((node("MaxPool", kernel_shape=[2, 2], pads=[huge] * 4), ("x",)),
                           (node("MaxPool", kernel_shape=[huge, huge]), ("x",)),
                           (node("AveragePool", kernel_shape=[3, 3], strides=[huge, 1], auto_pad="SAME_UPPER"), ("x",)),
                           (node("Conv", dilations=[huge, huge]), ("x", "k")),
                           (node("Conv", group=huge), ("x", "k")),
                           (node("Pad", pads=[huge] * 8), ("x",))):
            with self.assertRaisesRegex(RuntimeError, "too large|64 bits"):
                estimated(small_graph(op, inputs))

    def test_graphs_with_other_numbers_in_them_give_an_estimate_or_an_error(self):
        chance = random.Random(5)
        names = ("vit", "unet", "gru")
        files = [exported(make, inputs, axis)[0] for name, make, inputs, axis in EXPORTS if name in names]
        for i in range(300):
            bytes_of = bytearray(files[i % len(files)])
            for _ in range(chance.randint(1, 6)):
                bytes_of[chance.randrange(len(bytes_of))] = chance.choice((0, 1, 2, 127, 255, chance.randrange(256)))
            with self.subTest(seed=5, change=i):
                try:
                    peak, _ = estimated(bytes(bytes_of))
                    self.assertGreater(peak, 0)
                except (RuntimeError, ValueError, IndexError, NotImplementedError) as error:
                    self.assertNotIn("INTERNAL ASSERT", str(error))


if __name__ == "__main__":
    unittest.main()
