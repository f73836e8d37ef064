# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Code that goes around the dispatcher: graphs of torch.compile, and operators of one's own."""

import contextlib
import ctypes
import types
import unittest
from unittest import mock

import torch
import torchvision

import lowtide
import training


class Block(torch.nn.Module):
    """A block of a GPT."""

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attended.transpose(1, 2).flatten(2)
        return x + self.mlp(self.norm2(x))


def gpt():
    torch.manual_seed(4)
    return torch.nn.Sequential(*[Block(64) for _ in range(3)])


def gpt_batch():
    return torch.randn(16, 64, 64)


def small_gpt_batch():
    return torch.randn(2, 64, 64)


def resnet():
    torch.manual_seed(4)
    return torchvision.models.resnet18(num_classes=10)


def resnet_batch():
    return torch.randn(8, 3, 32, 32)


def compiled_whole(model):
    return torch.compile(model)


def compiled_by_blocks(model):
    for name, child in list(model.named_children()):
        if any(True for _ in child.parameters()):
            setattr(model, name, torch.compile(child))
    return model


def steps(model, make_batch, budget=None, count=3):
    """Like training.train(), for a model that is not copied: compiled code stays compiled."""
    # Blocks share their code, and torch compiles one function only so many times.
    torch._dynamo.reset()
    optimizer = torch.optim.AdamW(model.parameters())
    torch.manual_seed(7)
    losses, stats = [], {}
    with lowtide.budget(budget, device="cpu", floor_bytes=4096) if budget else (
            contextlib.nullcontext()):
        for _ in range(count):
            loss = model(make_batch()).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if budget:
            stats = lowtide.memory_stats()
    return training.bits([losses, list(model.state_dict().values())]), stats


class Compiled(unittest.TestCase):
    def check(self, make_model, compile_it, make_batch, share):
        plain, _ = steps(compile_it(make_model()), make_batch)
        _, stats = steps(compile_it(make_model()), make_batch, "1TiB")
        budget = int(stats["peak_bytes"] * share)
        managed, stats = steps(compile_it(make_model()), make_batch, budget)
        self.assertIsNone(training.first_difference(plain, managed))
        self.assertLessEqual(stats["peak_bytes"], budget)
        self.assertGreater(stats["evictions"], 0)

    def test_a_gpt_compiled_whole(self):
        # Inside the one graph nothing can leave: what does are the optimizer's states.
        self.check(gpt, compiled_whole, small_gpt_batch, 0.8)

    def test_a_gpt_compiled_block_by_block(self):
        self.check(gpt, compiled_by_blocks, gpt_batch, 0.7)

    def test_too_small_a_budget_is_torchs_own_error(self):
        with self.assertRaisesRegex(torch.OutOfMemoryError, "^DefaultCPUAllocator: .*Lowtide: ") as caught:
            steps(compiled_whole(gpt()), small_gpt_batch, 1 << 20)
        # By the graph's own allocations, which are no ops.
        self.assertIs(type(caught.exception.__cause__), RuntimeError)

    def test_a_resnet_compiled_whole(self):
        self.check(resnet, compiled_whole, resnet_batch, 0.8)

    def test_a_resnet_compiled_block_by_block(self):
        self.check(resnet, compiled_by_blocks, resnet_batch, 0.7)


class UsingNumpy(torch.nn.Module):
    """Compiled code hands an array out to Python and goes on."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(256, 256)

    def forward(self, x):
        x = self.linear(x)
        mean = x.detach().numpy().mean()
        torch._dynamo.graph_break()
        return x + float(mean)


class Arrays(unittest.TestCase):
    def test_of_compiled_code(self):
        def model():
            torch.manual_seed(4)
            return torch.compile(UsingNumpy())

        plain, _ = steps(model(), lambda: torch.randn(256, 256))
        managed, _ = steps(model(), lambda: torch.randn(256, 256), "1GiB")
        self.assertIsNone(training.first_difference(plain, managed))

    def test_under_a_torch_whose_compiler_has_other_names_of_its_own(self):
        with mock.patch.object(torch._C._dynamo, "eval_frame", types.SimpleNamespace()):
            with lowtide.budget("1GiB", device="cpu"):
                self.assertEqual((torch.randn(256, 256) * 0).numpy().sum(), 0)


@torch.library.custom_op("lowtide_tests::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    """An operator in numpy."""
    return torch.from_numpy(x.detach().numpy() * factor)


scaled.register_autograd(
    lambda ctx, gradient: (scaled(gradient, ctx.factor), None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))


@torch.library.custom_op("lowtide_tests::copied", mutates_args=())
def copied(x: torch.Tensor) -> torch.Tensor:
    """An operator by addresses, as kernels are called."""
    x = x.contiguous()
    result = torch.empty_like(x)
    ctypes.memmove(result.data_ptr(), x.data_ptr(), x.nbytes)
    return result


copied.register_autograd(lambda ctx, gradient: copied(gradient))


class OwnOperators(unittest.TestCase):
    def check(self, operator, rows, share, each_means):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(6))

            def forward(self, x):
                for layer in self.layers:
                    x = operator(layer(x).relu())
                return x

        torch.manual_seed(1)
        for means in each_means:
            with self.subTest(means=means):
                training.check_identity(self, Net(), lambda: torch.randn(rows, 256),
                                        share, means=means)

    def test_in_numpy_are_managed(self):
        # What numpy has seen stays.
        self.check(lambda x: scaled(x, 0.5), 512, 0.6, ("host", "mixed"))

    def test_by_addresses_are_managed_as_torchs_own(self):
        self.check(copied, 2048, 0.5, ("recompute", "host", "mixed"))


if __name__ == "__main__":
    unittest.main()
