# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is kept for the backward pass in a dry run against what torch really keeps."""

import unittest

import torch
from torch import nn
from torch.nn import functional

from dry import dry_run


def pictures(channels=6):
    return torch.randn(2, channels, 8, 8, requires_grad=True)


def rows():
    return torch.randn(4, 5, 16, requires_grad=True)


class Concat(nn.Module):
    def forward(self, x):
        return torch.cat([x.relu(), x.tanh()], 1)


class Attention(nn.Module):
    def __init__(self, is_causal):
        super().__init__()
        self.is_causal = is_causal

    def forward(self, x):
        heads = x.view(4, 5, 2, 8).transpose(1, 2)
        return functional.scaled_dot_product_attention(heads, heads, heads, is_causal=self.is_causal)


class Loss(nn.Module):
    def forward(self, x):
        return functional.cross_entropy(x.flatten(0, 1), torch.zeros(20, dtype=torch.long))


class PixelLoss(nn.Module):
    def forward(self, x):
        return functional.cross_entropy(x, torch.zeros(2, 8, 8, dtype=torch.long))


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 16)

    def forward(self, x):
        return self.table(torch.zeros(4, 5, dtype=torch.long)) + x


# (name, how to make the module, how to make its input)
MODULES = [
    ("linear", lambda: nn.Linear(16, 8), rows),
    ("convolution", lambda: nn.Conv2d(6, 8, 3, padding=1), pictures),
    ("strided", lambda: nn.Conv2d(6, 8, 1, stride=2, bias=False), pictures),
    ("grouped", lambda: nn.Conv2d(6, 6, 3, groups=6), pictures),
    ("transposed", lambda: nn.ConvTranspose2d(6, 4, 2, stride=2), pictures),
    ("batch norm", lambda: nn.BatchNorm2d(6), pictures),
    ("batch norm, evaluating", lambda: nn.BatchNorm2d(6).eval(), pictures),
    ("group norm", lambda: nn.GroupNorm(3, 6), pictures),
    ("instance norm", lambda: nn.InstanceNorm2d(6, affine=True), pictures),
    ("layer norm", lambda: nn.LayerNorm(16), rows),
    ("embedding", Embedded, rows),
    ("max pool", lambda: nn.MaxPool2d(3, 2, 1), pictures),
    ("average pool", lambda: nn.AvgPool2d(2), pictures),
    ("adaptive pool", lambda: nn.AdaptiveAvgPool2d(3), pictures),
    ("mean", lambda: nn.AdaptiveAvgPool2d(1), pictures),
    ("upsampled", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), pictures),
    ("dropout", lambda: nn.Dropout(0.5), rows),
    ("relu", nn.ReLU, rows),
    ("relu in place", lambda: nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True)), rows),
    ("relu6", lambda: nn.Sequential(nn.Linear(16, 16), nn.ReLU6(inplace=True)), rows),
    ("leaky relu", nn.LeakyReLU, rows),
    ("gelu", nn.GELU, rows),
    ("silu", nn.SiLU, rows),
    ("hardswish", nn.Hardswish, rows),
    ("sigmoid", nn.Sigmoid, rows),
    ("tanh", nn.Tanh, rows),
    ("softmax", lambda: nn.Softmax(-1), rows),
    ("log softmax", lambda: nn.LogSoftmax(-1), rows),
    ("concatenated", Concat, pictures),
    ("loss", Loss, rows),
    ("loss of pixels", PixelLoss, pictures),
    ("attention", lambda: Attention(False), rows),
    ("causal attention", lambda: Attention(True), rows),
    ("heads", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), rows),
    ("lstm", lambda: nn.LSTM(16, 12, num_layers=2), rows),
    ("gru", lambda: nn.GRU(16, 12), rows),
]


def kept(make, make_input):
    """The sizes of the storages that autograd keeps for the backward pass of a module, sorted."""
    storages = {}

    def note(x):
        storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    module, x = make(), make_input()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
        result = module(x)
    del result
    return sorted(storages.values())


class Saved(unittest.TestCase):
    def test_a_dry_run_keeps_what_torch_keeps(self):
        really = {name: kept(make, make_input) for name, make, make_input in MODULES}
        for name, make, make_input in MODULES:
            with self.subTest(module=name):
                with dry_run():
                    sizes = kept(make, make_input)
                self.assertEqual(sizes, really[name])


if __name__ == "__main__":
    unittest.main()
