# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The trainings that bench/peers measures: a ResNet and a transformer of GPT-2's shape, in plain torch."""

import contextlib
import os

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

DROPOUT = 0.1


def make_deterministic(model, device):
    """Bits can only be compared if plain training repeats its own."""
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    # Pooling's backward pass only warns; attention's sums in a fixed order only if it does not.
    torch.use_deterministic_algorithms(True, warn_only=model == "resnet50")
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    square = torch.ones(8, 8, device=device)
    square.mm(square)
    # Torch has seen the setting now. It would read it again in every product, which takes as long
    # as a small kernel; without it a workspace is made anew, of a size that is fixed too.
    del os.environ["CUBLAS_WORKSPACE_CONFIG"]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.joined = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(DROPOUT)

    def attend(self, x):
        batch, length, width = x.shape
        joined = self.joined(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = joined.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(query, key, value, is_causal=True,
                                                    dropout_p=DROPOUT if self.training else 0.0)
        return self.mixed(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.drop(self.attend(self.norm_1(x)))
        y = functional.gelu(self.wide(self.norm_2(x)), approximate="tanh")
        return x + self.drop(self.narrow(y))


class Gpt(nn.Module):
    """GPT-2: learned positions, norms before each half of a block, a head tied to the embedding."""

    def __init__(self, layers, width, heads, context, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.drop = nn.Dropout(DROPOUT)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, tokens):
        x = self.drop(self.tokens(tokens) + self.positions.weight[:tokens.shape[1]])
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)


class Training:
    """A model on a device with its optimizer and one batch, from the same seed each time."""

    def __init__(self, name, size, device):
        torch.manual_seed(0)
        with torch.device(device):
            make = self._make_pictures if name == "resnet50" else self._make_text
            make(**size)
        self._forward = self.model

    def _make_pictures(self, batch, side):
        import torchvision  # pylint: disable=import-outside-toplevel  (GPT does without)

        self.model = torchvision.models.resnet50()
        self.blocks = [block for name, layer in self.model.named_children()
                       if name.startswith("layer") for block in layer]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self._autocast = contextlib.nullcontext
        self._input = torch.randn(batch, 3, side, side)
        self._target = torch.randint(0, 1000, (batch,))

    def _make_text(self, batch, context, vocabulary, **shape):
        self.model = Gpt(context=context, vocabulary=vocabulary, **shape)
        self.blocks = list(self.model.blocks)
        weight = self.model.tokens.weight
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self._autocast = lambda: torch.autocast(weight.device.type, torch.bfloat16)
        self._input = torch.randint(0, vocabulary, (batch, context))
        self._target = torch.randint(0, vocabulary, (batch * context,))

    def checkpoint_blocks(self):
        def checkpointed(forward):
            return lambda x: checkpoint(forward, x, use_reentrant=False)

        for block in self.blocks:
            block.forward = checkpointed(block.forward)

    def compile(self, by_blocks):
        if not by_blocks:
            self._forward = torch.compile(self.model, dynamic=False)
            return
        for block in self.blocks:
            block.compile(dynamic=False)

    def step(self, saved_tensors=contextlib.nullcontext):
        self.optimizer.zero_grad(set_to_none=True)
        with saved_tensors():
            with self._autocast():
                output = self._forward(self._input)
                loss = functional.cross_entropy(output.flatten(0, -2), self._target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()
