# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What torch.onnx exports of the zoo's families is read and estimated, every op of it known."""

import importlib.util
import io
import logging
import random
import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional

from dry import estimate

try:
    import numpy
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


class LargeAsTheSide(nn.Module):
    """A way up of a U-Net whose result is made as large as the other side, which may be uneven."""

    def __init__(self, way_up):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.below = nn.Conv2d(8, 8, 3, padding=1)
        self.way_up = way_up
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, x):
        side = self.down(x)
        return self.head(torch.cat([side, self.way_up(self.below(functional.max_pool2d(side, 2)), side)], 1))


def doubled_and_padded(x, side):
    x = functional.interpolate(x, scale_factor=2)
    rows, columns = side.size(2) - x.size(2), side.size(3) - x.size(3)
    return functional.pad(x, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])


def resized(mode):
    return lambda x, side: functional.interpolate(x, size=side.shape[2:], mode=mode)


class CifarBlock(nn.Module):
    """Of ResNets for CIFAR: the way past leaves out every other pixel and adds channels of zeros."""

    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(),
                                          nn.Conv2d(8, 8, 3, 1, 1), nn.BatchNorm2d(8))
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        past = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 2, 3))
        return self.head(functional.relu(self.convolutions(x) + past).mean((2, 3)))


class InceptionBranches(nn.Module):
    """Inception-v4's way of branching: of pools, of convolutions in one axis, and of two that share a part."""

    def __init__(self):
        super().__init__()
        self.pooled = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), nn.Conv2d(3, 4, 1))
        self.split = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, (1, 7), padding=(0, 3)))
        self.parts = nn.ModuleList([nn.Conv2d(4, 4, (1, 3), padding=(0, 1)), nn.Conv2d(4, 4, (3, 1), padding=(1, 0))])
        self.norm = nn.BatchNorm2d(12, eps=1e-3)
        self.head = nn.Linear(15, 10)

    def forward(self, x):
        shared = self.split(x)
        joined = self.norm(torch.cat([self.pooled(x), *(part(shared) for part in self.parts)], 1))
        smaller = torch.cat([functional.max_pool2d(joined, 3, 2), functional.max_pool2d(x, 3, 2)], 1)
        return self.head(functional.dropout(smaller.mean((2, 3)), 0.2, self.training))


def lenet5():
    return nn.Sequential(nn.Conv2d(3, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(576, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
                         nn.Linear(84, 10))


def of_axes(count):
    """Convolution and pools over one axis or three."""
    kinds = {1: (nn.Conv1d, nn.MaxPool1d, nn.AvgPool1d), 3: (nn.Conv3d, nn.MaxPool3d, nn.AvgPool3d)}
    convolution, largest, mean = kinds[count]
    return nn.Sequential(convolution(3, 8, 3, padding=1), largest(2), convolution(8, 8, 3, padding=1), mean(2),
                         nn.Flatten(), nn.Linear(8 * 2 ** count, 4))


class Gpt2(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            n_layer=2, n_embd=32, n_head=4, vocab_size=64, n_positions=32, attn_implementation=attention))

    def forward(self, x):
        return self.model(x, attention_mask=torch.ones_like(x), use_cache=False)[0]


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
    ("lenet5", lenet5, pictures(32), 0),
    ("cifar", CifarBlock, pictures(32), 0),
    ("inception_v4", InceptionBranches, pictures(33), 0),
    ("unet that resizes", lambda: LargeAsTheSide(resized("bilinear")), pictures(33), 0),
    ("unet that resizes to the nearest", lambda: LargeAsTheSide(resized("nearest")), pictures(33), 0),
    ("unet that pads", lambda: LargeAsTheSide(doubled_and_padded), pictures(33), 0),
    ("rows", lambda: of_axes(1), (torch.zeros(2, 3, 8),), 0),
    ("volumes", lambda: of_axes(3), (torch.zeros(2, 3, 8, 8, 8),), 0),
    ("gpt2", lambda: Gpt2("eager"), tokens(2, 16), 0),
]
# Those of them that torch's exporter of today is tried with, which takes seconds for each.
FROM_PROGRAMS = ("lstm both ways", "unet", "bert", "lenet5", "cifar", "inception_v4", "unet that resizes",
                 "unet that pads", "rows", "volumes", "gpt2")


def exported(make, inputs, axis):
    """The bytes of the file, and how many numbers are trained."""
    module, file = make().train(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, file, dynamo=False, do_constant_folding=False, input_names=["x"],
                          training=torch.onnx.TrainingMode.TRAINING, dynamic_axes={"x": {axis: "batch"}})
    return file.getvalue(), sum(p.numel() for p in module.parameters())


def exported_as_program(make, inputs, axis):
    """The same by torch's exporter of today."""
    module = make().train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(module, inputs, dynamo=True, verbose=False,
                                    dynamic_shapes=({axis: torch.export.Dim("batch", max=1 << 20)},))
    return program.model_proto.SerializeToString(), sum(p.numel() for p in module.parameters())


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


FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def floats(*sizes):
    return numpy.zeros(sizes, numpy.float32)


def integers(*numbers):
    return numpy.array(numbers, numpy.int64)


def shares(*numbers):
    return numpy.array(numbers, numpy.float32)


X = "x"  # What is read: of a product with a weight.
MANY = integers(*range(512)).reshape(2, 4, 8, 8) % 4
# (op, opset, sizes of what it reads, its inputs, attributes)
OPS = [
    ("GroupNormalization", 18, (2, 4, 8, 8), (X, floats(2), floats(2)), {"num_groups": 2}),
    ("GroupNormalization", 21, (2, 4, 8, 8), (X, floats(4), floats(4)), {"num_groups": 2}),
    ("InstanceNormalization", 17, (2, 4, 8, 8), (X, floats(4), floats(4)), {}),
    ("LayerNormalization", 17, (2, 4, 8, 8), (X, floats(8, 8), floats(8, 8)), {"axis": 2}),
    ("RMSNormalization", 23, (2, 4, 8, 8), (X, floats(8)), {}),
    ("LpNormalization", 17, (2, 4, 8, 8), (X,), {"axis": 1, "p": 1}),
    ("Attention", 23, (2, 4, 8, 8), (X, X, X), {"is_causal": 1}),
    ("Attention", 23, (2, 4, 8, 8), (X, floats(2, 2, 8, 8), floats(2, 2, 8, 8)), {}),
    ("Attention", 23, (2, 8, 32), (X, X, X), {"q_num_heads": 4, "kv_num_heads": 4}),
    ("RotaryEmbedding", 23, (2, 4, 8, 8), (X, floats(2, 8, 4), floats(2, 8, 4)), {}),
    ("RotaryEmbedding", 23, (2, 8, 32), (X, floats(9, 4), floats(9, 4), MANY.reshape(-1)[:16].reshape(2, 8)),
     {"num_heads": 4, "interleaved": 1}),
    ("Einsum", 17, (2, 4, 8, 8), (X, X), {"equation": "abij,abkj->abik"}),
    ("Resize", 10, (2, 4, 8, 8), (X, shares(1, 1, 2, 1.5)), {"mode": "linear"}),
    ("Resize", 13, (2, 4, 8, 8), (X, "", shares(1, 1, 2, 2)), {}),
    ("Resize", 13, (2, 4, 8, 8), (X, "", "", integers(2, 4, 11, 5)), {"mode": "cubic"}),
    ("Resize", 18, (2, 4, 8, 8), (X, "", "", integers(3, 20)), {"mode": "linear", "axes": [2, 3]}),
    ("Resize", 13, (2, 4, 64), (X, "", shares(1, 1, 3)), {"mode": "linear"}),
    ("Resize", 13, (2, 4, 4, 4, 4), (X, "", shares(1, 1, 2, 2, 2)), {}),
    ("Upsample", 9, (2, 4, 8, 8), (X, shares(1, 1, 2, 2)), {}),
    ("Upsample", 7, (2, 4, 8, 8), (X,), {"scales": [1.0, 1.0, 2.0, 3.0]}),
    ("DepthToSpace", 17, (2, 4, 8, 8), (X,), {"blocksize": 2}),
    ("SpaceToDepth", 17, (2, 4, 8, 8), (X,), {"blocksize": 2}),
    ("MaxPool", 17, (2, 4, 64), (X,), {"kernel_shape": [3], "strides": [2]}),
    ("MaxPool", 17, (2, 4, 4, 4, 4), (X,), {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2], "pads": [1] * 6}),
    ("AveragePool", 17, (2, 4, 64), (X,), {"kernel_shape": [4], "ceil_mode": 1, "strides": [3]}),
    ("AveragePool", 17, (2, 4, 4, 4, 4), (X,), {"kernel_shape": [2, 2, 2]}),
    ("TopK", 17, (2, 4, 8, 8), (X, integers(3)), {"axis": 1}),
    ("OneHot", 17, (2, 4, 8, 8), (MANY[0, 0], integers(5), shares(0, 1)), {"axis": 1}),
    ("ScatterND", 17, (2, 4, 8, 8), (X, MANY[0, 0, :2, :2] % 2, floats(2, 8, 8)), {}),
    ("ScatterElements", 17, (2, 4, 8, 8), (X, MANY[..., :3], floats(2, 4, 8, 3)), {"axis": 3}),
    ("ScatterElements", 18, (2, 4, 8, 8), (X, MANY, floats(2, 4, 8, 8)), {"reduction": "add"}),
    ("GatherND", 17, (2, 4, 8, 8), (X, MANY[0, 0, :, :2] % 2), {}),
    ("GatherElements", 17, (2, 4, 8, 8), (X, MANY[..., :3]), {"axis": 3}),
    ("Gather", 17, (2, 4, 8, 8), (X, MANY[0, 0]), {"axis": 2}),
    ("Slice", 17, (2, 4, 8, 8), (X, integers(6), integers(1), integers(3), integers(-2)), {}),
    ("Slice", 17, (2, 4, 8, 8), (X, integers(1, -9), integers(2 ** 62, 7), integers(2, 3), integers(3, 2)), {}),
    ("ArgMin", 17, (2, 4, 8, 8), (X,), {"axis": 2, "keepdims": 0}),
    ("ReduceL1", 17, (2, 4, 8, 8), (X,), {"axes": [1, 3]}),
    ("ReduceSumSquare", 17, (2, 4, 8, 8), (X,), {"axes": [1], "keepdims": 0}),
    ("ReduceLogSum", 17, (2, 4, 8, 8), (X,), {}),
    ("CastLike", 17, (2, 4, 8, 8), (X, integers(1)), {}),
    ("Bernoulli", 17, (2, 4, 8, 8), (X,), {}),
    ("RandomNormalLike", 17, (2, 4, 8, 8), (X,), {"dtype": INT64}),
    ("Mean", 17, (2, 4, 8, 8), (X, X, X), {}),
    ("Celu", 17, (2, 4, 8, 8), (X,), {}),
    ("Softsign", 17, (2, 4, 8, 8), (X,), {}),
    ("Swish", 24, (2, 4, 8, 8), (X,), {}),
    ("Asinh", 17, (2, 4, 8, 8), (X,), {}),
    ("CumSum", 17, (2, 4, 8, 8), (X, integers(2)), {}),
    ("Tile", 17, (2, 4, 8, 8), (X, integers(1, 2, 1, 3)), {}),
    ("Pad", 17, (2, 4, 8, 8), (X, integers(0, 0, 1, 2, 0, 0, 3, 4)), {}),
]


def graph_of(op, opset, sizes, inputs, attributes):
    """Gives the op's result as "y", beside a product with a weight so that there is something to train."""
    helper = onnx.helper
    names = [f"c{i}" if isinstance(value, numpy.ndarray) else value for i, value in enumerate(inputs)]
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in zip(names, inputs)
                 if isinstance(value, numpy.ndarray)]
    constants += [onnx.numpy_helper.from_array(floats(8, 8), "w"),
                  onnx.numpy_helper.from_array(integers(*sizes), "sizes")]
    nodes = [helper.make_node("MatMul", ["in", "w"], ["product"]),
             helper.make_node("Reshape", ["product", "sizes"], [X]),
             helper.make_node(op, names, ["y"] if op != "TopK" else ["y", "places"], **attributes)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "one", [value("in", FLOAT, [2, 4, 8, 8])],
                              [value("y", onnx.TensorProto.UNDEFINED, None), value("product", FLOAT, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def told_by_onnx(model):
    """The sizes of "y" by onnx's own inference; nothing if that does not tell."""
    for output in onnx.shape_inference.infer_shapes(model, data_prop=True).graph.output:
        if output.name == "y" and output.type.tensor_type.HasField("shape"):
            return [axis.dim_value for axis in output.type.tensor_type.shape.dim]
    return None


def joined_with(model, sizes):
    """The graph with its "y" joined, along its first and along its last axis, with zeros of these sizes: of
    others this cannot be done."""
    helper = onnx.helper
    del model.graph.output[0]
    model.graph.initializer.append(onnx.numpy_helper.from_array(floats(*sizes), "zeros"))
    model.graph.node.append(helper.make_node("Cast", ["y"], ["z"], to=FLOAT))
    for name, axis in (("first", 0), ("last", -1)):
        model.graph.node.append(helper.make_node("Concat", ["z", "zeros"], [name], axis=axis))
        model.graph.output.append(helper.make_tensor_value_info(name, FLOAT, None))
    return model.SerializeToString()


class OnnxExports(unittest.TestCase):
    def test_every_op_of_them_is_known(self):
        for name, make, inputs, axis in EXPORTS:
            with self.subTest(model=name):
                self.check(*exported(make, inputs, axis))

    @unittest.skipIf(importlib.util.find_spec("onnxscript") is None, "torch's exporter of today needs onnxscript")
    def test_every_op_of_todays_exports_is_known(self):
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        rows = {row[0]: row[1:] for row in EXPORTS}
        for name in FROM_PROGRAMS:
            with self.subTest(model=name):
                self.check(*exported_as_program(*rows[name]))

    def check(self, file, parameters):
        peak, notes = estimated(file)
        self.assertEqual(notes, [])
        # Weights, their gradients and velocities at least.
        self.assertGreater(peak, 3 * 4 * 0.9 * parameters)
        larger, notes = estimated(file, batch=7)
        self.assertEqual(notes, [])
        self.assertGreater(larger, peak)

    def test_ops_give_what_onnx_says(self):
        for row in OPS:
            with self.subTest(op=row[0], opset=row[1], attributes=row[4]):
                # Where that does not tell, the op gives as much as it reads.
                sizes = told_by_onnx(graph_of(*row)) or list(row[2])
                self.assertEqual(estimated(joined_with(graph_of(*row), sizes))[1], [])
                # What cannot be joined is found out.
                with self.assertRaisesRegex(RuntimeError, "Concat|tensor"):
                    estimated(joined_with(graph_of(*row), [size + 1 for size in sizes] or [2, 2]))

    def test_ranges_are_as_long_as_onnx_has_them(self):
        for bounds, length in (((0, 5, 2), 3), ((0, 6, 2), 3), ((5, 0, -2), 3), ((3, 3, 1), 0), ((0, 5, -1), 0)):
            with self.subTest(bounds=bounds):
                row = ("Range", 17, (2, 4, 8, 8), tuple(numpy.array(bound, numpy.int64) for bound in bounds), {})
                model = joined_with(graph_of(*row), [length])
                # Joined with so many zeros along its only axis, and cut into as many as that gives.
                whole = onnx.load_model_from_string(model)
                whole.graph.initializer.append(onnx.numpy_helper.from_array(integers(length, length), "halves"))
                whole.graph.node.append(onnx.helper.make_node("Split", ["first", "halves"], ["a", "b"]))
                self.assertEqual(estimated(whole.SerializeToString())[1], [])

    def test_sizes_may_be_computed_with_fractions(self):
        helper = onnx.helper
        model = graph_of("Identity", 17, (2, 4, 8, 8), (X,), {})
        del model.graph.node[2]
        constants = {"half": shares(1.5), "two": integers(2), "none": integers(0), "four": integers(4)}
        model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in constants.items())
        model.graph.node.extend([
            helper.make_node("Shape", [X], ["s"]), helper.make_node("Slice", ["s", "two", "four"], ["inner"]),
            helper.make_node("Slice", ["s", "none", "two"], ["outer"]),
            helper.make_node("Cast", ["inner"], ["f"], to=FLOAT), helper.make_node("Mul", ["f", "half"], ["m"]),
            helper.make_node("Floor", ["m"], ["n"]), helper.make_node("Cast", ["n"], ["i"], to=INT64),
            helper.make_node("Concat", ["outer", "i"], ["asked"], axis=0),
            helper.make_node("Resize", [X, "", "", "asked"], ["y"])])
        self.assertEqual(estimated(joined_with(model, [2, 4, 12, 12]))[1], [])

    def test_axes_of_a_name_are_as_long_as_each_other(self):
        make, inputs = lambda: Recurrent(nn.LSTM), tokens(5, 3)
        module, file = make().train(), io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, file, dynamo=False, do_constant_folding=False, input_names=["x"],
                              training=torch.onnx.TrainingMode.TRAINING,
                              dynamic_axes={"x": {0: "steps", 1: "batch"}})
        # The batch is the axis that is called so, and not the first.
        of_five_steps = estimated(exported(make, inputs, 1)[0], batch=4)
        self.assertEqual(estimated(file.getvalue(), batch=4, free_axis=5), of_five_steps)
        self.assertNotEqual(estimated(file.getvalue(), batch=5, free_axis=4), of_five_steps)
        with self.assertRaisesRegex(RuntimeError, "steps.*--axis steps=SIZE"):
            estimated(file.getvalue(), batch=4)

    def test_an_op_that_is_not_known_may_enlarge_what_it_reads(self):
        # The way of a U-Net: down and up again, to what was there before.
        def peak_of(op):
            helper = onnx.helper
            model = graph_of("MaxPool", 13, (2, 4, 8, 8), (X,), {"kernel_shape": [2, 2], "strides": [2, 2]})
            model.graph.initializer.append(onnx.numpy_helper.from_array(shares(1, 1, 2, 2), "scales"))
            model.graph.node.append(helper.make_node(op, ["y", "", "scales"], ["up"]))
            del model.graph.output[:]
            model.graph.output.append(helper.make_tensor_value_info("up", FLOAT, None))
            return estimated(model.SerializeToString(), batch=2)

        known, notes = peak_of("Resize")
        self.assertEqual(notes, [])
        guessed, notes = peak_of("Bogus")
        self.assertIn("'Bogus' is not known", notes[0])
        self.assertGreaterEqual(guessed, known)

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

    def test_a_shape_that_is_joined_with_itself_over_and_over_is_no_shape(self):
        # 4 numbers, doubled 30 times: kept, they would take 32 GiB.
        helper = onnx.helper
        model = graph_of("Shape", 17, (2, 4, 8, 8), (X,), {})
        model.graph.node[-1].output[0] = "d0"
        for i in range(30):
            model.graph.node.append(helper.make_node("Concat", [f"d{i}", f"d{i}"], [f"d{i + 1}"], axis=0))
        model.graph.node.append(helper.make_node("Cast", ["d30"], ["y"], to=FLOAT))
        self.assertEqual(estimated(model.SerializeToString())[1], [])

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
