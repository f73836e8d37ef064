# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The models whose training steps are recorded, written with torch alone."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


def image_stem() -> nn.Module:
    return nn.Sequential(OrderedDict(
        conv=nn.Conv2d(3, 64, 7, 2, 3, bias=False), bn=nn.BatchNorm2d(64), relu=nn.ReLU(inplace=True),
        pool=nn.MaxPool2d(3, 2, 1)))


def image_head(channels: int) -> nn.Module:
    return nn.Sequential(OrderedDict(pool=nn.AdaptiveAvgPool2d(1), flatten=nn.Flatten(), fc=nn.Linear(channels, 1000)))


def resnet50() -> nn.Module:
    layers, inputs = {"stem": image_stem()}, 64
    for stage, (width, blocks, stride) in enumerate(((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)), 1):
        layers[f"layer{stage}"] = nn.Sequential()
        for block in range(blocks):
            layers[f"layer{stage}"].append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(OrderedDict(layers, head=image_head(inputs)))


class DenseLayer(nn.Module):
    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, features):
        y = self.conv1(self.relu(self.norm1(torch.cat(features, 1))))
        return self.conv2(self.relu(self.norm2(y)))


class DenseBlock(nn.Module):
    def __init__(self, inputs: int, layers: int, growth: int):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer(inputs + i * growth, growth) for i in range(layers))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


def densenet121() -> nn.Module:
    growth, channels = 32, 64
    layers = {"stem": image_stem()}
    for block, count in enumerate((6, 12, 24, 16), 1):
        layers[f"block{block}"] = DenseBlock(channels, count, growth)
        channels += count * growth
        layers[f"norm{block}"] = nn.BatchNorm2d(channels)
        layers[f"relu{block}"] = nn.ReLU(inplace=True)
        if block < 4:
            layers[f"conv{block}"] = nn.Conv2d(channels, channels // 2, 1, bias=False)
            layers[f"pool{block}"] = nn.AvgPool2d(2)
            channels //= 2
    return nn.Sequential(OrderedDict(layers, head=image_head(channels)))


def double_conv(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes: int = 21):
        super().__init__()
        widths = (64, 128, 256, 512, 1024)
        self.down = nn.ModuleList(double_conv(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * a, a, 2, 2) for a in widths[-2::-1])
        self.merge = nn.ModuleList(double_conv(2 * a, a) for a in widths[-2::-1])
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Conv2d(64, classes, 1)

    def forward(self, x):
        skips = []
        for level in self.down[:-1]:
            skips.append(level(x))
            x = self.pool(skips[-1])
        x = self.down[-1](x)
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat((skips.pop(), up(x)), 1))
        return self.head(x)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.drop = nn.Dropout(dropout)
        self.heads, self.dropout = heads, dropout

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        y = functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        return self.drop(self.proj(y.transpose(1, 2).reshape(batch, length, width)))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, dropout)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    vocabulary = 50257

    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, length: int = 1024, dropout: float = 0.1):
        super().__init__()
        self.wte = nn.Embedding(self.vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, self.vocabulary, bias=False)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.drop(self.wte(tokens) + self.wpe(positions))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


class Lstm(nn.Module):
    """A word-level language model, unrolled in Python: two LSTMCells, one decoder over all steps."""

    vocabulary = 10000

    def __init__(self, width: int = 1024):
        super().__init__()
        self.embed = nn.Embedding(self.vocabulary, width)
        self.cells = nn.ModuleList(nn.LSTMCell(width, width) for _ in range(2))
        self.decoder = nn.Linear(width, self.vocabulary)

    def forward(self, tokens):
        states, outputs = [None, None], []
        for x in self.embed(tokens.t()).unbind(0):
            for i, cell in enumerate(self.cells):
                states[i] = cell(x, states[i])
                x = states[i][0]
            outputs.append(x)
        return self.decoder(torch.stack(outputs, 1))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
