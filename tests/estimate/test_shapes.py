# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The shapes that ours give for ops against what torch's kernels really give on the CPU, and, for ops that a
CPU has not, against torch's own functions for the device `meta`."""

import pathlib
import re
import unittest

import torch
from torch.utils._pytree import tree_leaves, tree_map

import dry  # noqa: F401  Loads ours.

aten = torch.ops.aten
ALL, NO_BIAS = [True, True, True], [True, True, False]


def floats(*sizes):
    return torch.randn(*sizes)


def numbers(below, *sizes):
    return torch.randint(below, sizes)


def convolutions():
    """(input, weight, bias, stride, padding, dilation, transposed, output padding, groups)"""
    yield floats(2, 3, 9, 8), floats(4, 3, 3, 3), floats(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1
    yield floats(2, 4, 9, 8), floats(6, 2, 3, 2), None, [2, 1], [0, 1], [2, 1], False, [0, 0], 2
    yield floats(2, 4, 5, 5), floats(4, 1, 3, 3), None, [2, 2], [1, 1], [1, 1], False, [0, 0], 4
    yield floats(2, 4, 5, 6), floats(4, 3, 3, 2), floats(3), [2, 2], [1, 0], [1, 1], True, [1, 0], 1
    yield floats(2, 3, 11), floats(5, 3, 4), floats(5), [3], [2], [1], False, [0], 1


def convolution_gradients():
    for picture, weight, bias, *rest in convolutions():
        gradient = torch.randn_like(aten.convolution.default(picture, weight, bias, *rest))
        sizes = None if bias is None else list(bias.shape)
        yield gradient, picture, weight, sizes, *rest, [True, True, bias is not None]
        yield gradient, picture, weight, sizes, *rest, [False, True, False]


def norm_gradients(op, samples):
    """From the arguments of a norm's forward op; `samples` gives (arguments, how to go on)."""
    for arguments, then in samples:
        result, mean, scale = op(*arguments)
        yield then(torch.randn_like(result), mean, scale)


def batch_norms():
    for is_training in (True, False):
        yield floats(4, 3, 5, 5), floats(3), floats(3), floats(3), floats(3).abs(), is_training, 0.1, 1e-5
    yield floats(4, 3), None, None, None, None, True, 0.1, 1e-5


def batch_norm_gradients():
    for arguments in batch_norms():
        x, weight, _, mean, variance, is_training = arguments[:6]
        result, kept, scale = aten.native_batch_norm.default(*arguments)
        wanted = ALL if weight is not None else [True, False, False]
        yield torch.randn_like(result), x, weight, mean, variance, kept, scale, is_training, 1e-5, wanted


def group_norms():
    yield floats(2, 6, 4, 4), floats(6), floats(6), 2, 6, 16, 3, 1e-5
    yield floats(2, 6, 4), None, None, 2, 6, 4, 2, 1e-5


def group_norm_gradients():
    for x, weight, bias, n, c, points, groups, eps in group_norms():
        result, mean, scale = aten.native_group_norm.default(x, weight, bias, n, c, points, groups, eps)
        wanted = ALL if weight is not None else [True, False, False]
        yield torch.randn_like(result), x, mean, scale, weight, n, c, points, groups, wanted


def layer_norms():
    yield floats(2, 5, 8), [8], floats(8), floats(8), 1e-5
    yield floats(2, 5, 8), [5, 8], None, None, 1e-5


def layer_norm_gradients():
    for x, shape, weight, bias, eps in layer_norms():
        if weight is None:  # torch's own kernel on the CPU cannot be called so.
            continue
        result, mean, scale = aten.native_layer_norm.default(x, shape, weight, bias, eps)
        yield torch.randn_like(result), x, shape, mean, scale, weight, bias, ALL


def attentions(has_mask=False):
    for heads_first in (False, True):
        q, k, v = (floats(2, 4, 6, 8) if heads_first else floats(2, 6, 4, 8).transpose(1, 2) for _ in range(3))
        yield (q, k, v, None, True, 0.0, True) if has_mask else (q, k, v, 0.0, True)


def attention_gradients():
    op = aten._scaled_dot_product_flash_attention_for_cpu.default
    for q, k, v, dropout, is_causal in attentions():
        result, sums = op(q, k, v, dropout, is_causal)
        yield torch.randn_like(result), q, k, v, result, sums, dropout, is_causal


def volume_pools():
    """(input, kernel, stride, padding, dilation, whether the last may hang over)"""
    yield floats(2, 3, 8, 9, 10), [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], False
    yield floats(2, 3, 8, 9, 10), [3, 2, 3], [2, 3, 2], [1, 1, 1], [1, 2, 1], True
    yield floats(3, 5, 5, 5), [2], [], [0], [1], True


def volume_pool_gradients():
    for arguments in volume_pools():
        result, places = aten.max_pool3d_with_indices.default(*arguments)
        yield torch.randn_like(result), *arguments, places


def layers():
    """Of an LSTM: input, weights, states, reverse, batch sizes, mode, ..."""
    for steps, batch, width in ((7, 4, 16),):
        yield (floats(steps, batch, 12), floats(4 * width, 12), floats(4 * width, width), floats(4 * width),
               floats(4 * width), floats(batch, width), floats(batch, width), False, [], 2, width, 1, True, False,
               False, True)


def layer_gradients():
    for arguments in layers():
        output, hidden, cell, workspace = aten.mkldnn_rnn_layer.default(*arguments)
        x, a, b, c, d, h0, c0, is_reverse, sizes, mode, width, count, has_biases, is_both, is_first, is_training = (
            arguments)
        yield (x, a, b, c, d, h0, c0, output, hidden, cell, torch.randn_like(output), torch.randn_like(hidden),
               torch.randn_like(cell), is_reverse, mode, width, count, has_biases, is_training, is_both, sizes,
               is_first, workspace)


# By the name that ours are registered for: arguments to try.
ON_CPU = {
    "convolution": convolutions,
    "convolution_backward": convolution_gradients,
    "native_batch_norm": batch_norms,
    "native_batch_norm_backward": batch_norm_gradients,
    "native_group_norm": group_norms,
    "native_group_norm_backward": group_norm_gradients,
    "native_layer_norm": layer_norms,
    "native_layer_norm_backward": layer_norm_gradients,
    "embedding": lambda: [(floats(9, 4), numbers(9, 2, 3), -1, False, False)],
    "embedding_dense_backward": lambda: [(floats(2, 3, 4), numbers(9, 2, 3), 9, -1, False)],
    "index_select": lambda: [(floats(3, 5, 2), 1, numbers(5, 7)), (floats(3, 5, 2), -1, numbers(2, 4))],
    "native_dropout": lambda: [(floats(3, 4), 0.5, True)],
    "native_dropout_backward": lambda: [(floats(3, 4), floats(3, 4) > 0, 2.0)],
    "_adaptive_avg_pool2d": lambda: [(floats(2, 3, 9, 8), [4, 3]), (floats(3, 9, 8), [1, 2])],
    "_adaptive_avg_pool2d_backward": lambda: [(floats(2, 3, 4, 3), floats(2, 3, 9, 8))],
    "nll_loss2d_forward": lambda: [(floats(2, 5, 3, 3), numbers(5, 2, 3, 3), None, reduction, -100)
                                   for reduction in (0, 1, 2)],
    "nll_loss2d_backward": lambda: [(floats(()), floats(2, 5, 3, 3), numbers(5, 2, 3, 3), None, 1, -100,
                                     torch.tensor(18.0))],
    "relu": lambda: [(floats(3, 4),)],
    "hardtanh_backward": lambda: [(floats(3, 4), floats(3, 4), 0, 6)],
    "_safe_softmax": lambda: [(floats(3, 4), -1), (floats(3, 4), 0, torch.float64)],
    "where.self": lambda: [(floats(3, 1) > 0, floats(1, 4), floats(2, 3, 4)),
                           (floats(3) > 0, floats(3), floats(3).double())],
    "_scaled_dot_product_flash_attention_for_cpu": attentions,
    "_scaled_dot_product_flash_attention_for_cpu_backward": attention_gradients,
    "abs": lambda: [(floats(3, 4),), (floats(3, 4, 5).transpose(0, 2),)],
    "flip": lambda: [(floats(3, 4, 5), [1]), (floats(3, 4), [0, -1])],
    "hardtanh": lambda: [(floats(3, 4), 0, 6)],
    "hardswish": lambda: [(floats(3, 4),)],
    "hardswish_backward": lambda: [(floats(3, 4), floats(3, 4))],
    "isnan": lambda: [(floats(3, 4),)],
    "logical_not": lambda: [(floats(3, 4) > 0,), (floats(3, 4),)],
    "logical_and": lambda: [(floats(3, 1) > 0, floats(2, 3, 4) > 0), (floats(4), floats(3, 4))],
    "logical_or": lambda: [(floats(3, 1) > 0, floats(2, 3, 4) > 0)],
    "logical_xor": lambda: [(floats(3, 1) > 0, floats(2, 3, 4) > 0)],
    "max_pool3d_with_indices": volume_pools,
    "max_pool3d_with_indices_backward": volume_pool_gradients,
    "mkldnn_rnn_layer": layers,
    "mkldnn_rnn_layer_backward": layer_gradients,
}


def on_meta(arguments):
    return tree_map(lambda x: torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
                    if isinstance(x, torch.Tensor) else x, arguments)


def gpu_batch_norm_gradients():
    x, weight, mean = floats(4, 3, 5, 5), floats(3), floats(3)
    yield x, torch.randn_like(x), weight, mean, mean, mean, mean, 1e-5, torch.empty(0, dtype=torch.uint8)


def efficient_gradients():
    for q, k, v, *_ in attentions():
        seed = torch.zeros((), dtype=torch.long)
        yield (torch.randn_like(q), q, k, v, None, q, floats(2, 4, 32), seed, seed, 0.0, [True, True, True, False],
               True)


def cudnn_gradients():
    for q, k, v, *_ in attentions():
        seed = torch.zeros((), dtype=torch.long)
        yield torch.randn_like(q), q, k, v, q, floats(2, 4, 6, 1), seed, seed, None, None, None, 6, 6, 0.0, True


def flash_gradients():
    for q, k, v, *_ in attentions():
        seeds = torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)
        yield torch.randn_like(q), q, k, v, q, floats(2, 4, 6), None, None, 6, 6, 0.0, True, *seeds


# Input, weights, how many a layer, all weights in a row, states, mode, width, projection, layers, whether the batch
# comes first, dropout, whether it trains, both ways, batch sizes, state of the dropout. torch tells of no reserve, so
# there is no training here.
def lstms():
    for is_batch_first, ways in ((False, 1), (True, 2)):
        weights = [floats(4 * 16, 12), floats(4 * 16, 16), floats(4 * 16), floats(4 * 16)] * ways
        states = [floats(ways, 5, 16), floats(ways, 5, 16)]
        x = floats(5, 7, 12) if is_batch_first else floats(7, 5, 12)
        yield x, weights, 4, floats(0), *states, 2, 16, 0, 1, is_batch_first, 0.0, False, ways == 2, [], None


# What only a GPU carries out. torch has no function of its own for the backward op of its LSTM.
ON_GPU = {
    "cudnn_batch_norm": lambda: [(floats(4, 3, 5, 5), floats(3), floats(3), floats(3), floats(3), True, 0.1, 1e-5)],
    "cudnn_batch_norm_backward": gpu_batch_norm_gradients,
    "_cudnn_rnn": lstms,
    "_scaled_dot_product_flash_attention": lambda: [(q, k, v, 0.0, True, False) for q, k, v, *_ in attentions()],
    "_scaled_dot_product_flash_attention_backward": flash_gradients,
    "_scaled_dot_product_efficient_attention": lambda: [
        (q, k, v, None, True, 0.0, True) for q, k, v, *_ in attentions()],
    "_scaled_dot_product_efficient_attention_backward": efficient_gradients,
    "_scaled_dot_product_cudnn_attention": lambda: [
        (q, k, v, None, True, 0.0, True, False) for q, k, v, *_ in attentions()],
    "_scaled_dot_product_cudnn_attention_backward": cudnn_gradients,
}


def registered():
    folder = pathlib.Path(__file__).resolve().parents[2] / "src/estimate/torch"
    names = set()
    for path in folder.glob("*_kernels.cpp"):
        text = path.read_text()
        names |= set(re.findall(r'library\.impl\("([^"]+)"', text))
    return names


def overload(name):
    packet, _, of = name.partition(".")
    return getattr(getattr(aten, packet), of or "default")


def described(results, has_strides=True):
    """Sizes, strides, type and bytes of all tensors among results; of those without elements the type only."""
    rows = []
    for x in tree_leaves(results):
        if not isinstance(x, torch.Tensor):
            continue
        if x.numel() == 0:
            rows.append((0, x.dtype))
            continue
        place = (tuple(x.stride()), x.untyped_storage().nbytes()) if has_strides else ()
        rows.append((tuple(x.shape), *place, x.dtype))
    return rows


class Shapes(unittest.TestCase):
    def test_every_one_that_is_registered_is_looked_at(self):
        self.assertEqual(registered(), set(ON_CPU) | set(ON_GPU) | {"_cudnn_rnn_backward"})

    def test_they_are_those_of_torchs_kernels(self):
        for name, samples in ON_CPU.items():
            op = overload(name)
            for i, arguments in enumerate(samples()):
                with self.subTest(op=name, sample=i):
                    self.assertEqual(described(op(*on_meta(arguments))), described(op(*arguments)))

    def test_on_a_gpu_they_are_those_that_torch_itself_tells(self):
        for name, samples in ON_GPU.items():
            op = overload(name)
            torchs = op.py_kernels[torch._C.DispatchKey.Meta]
            for i, arguments in enumerate(samples()):
                with self.subTest(op=name, sample=i):
                    meta = on_meta(arguments)
                    self.assertEqual(described(op(*meta), False), described(torchs(*meta), False))


if __name__ == "__main__":
    unittest.main()
