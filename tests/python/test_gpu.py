# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The package on a GPU: eager and compiled training, and code that takes addresses there."""

import contextlib
import copy
import gc
import io
import os
import pickle
import shutil
import unittest

# cuBLAS asks for it where results are to be the same from run to run.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
import torchvision

import lowtide
import training
from test_compiled import Block, compiled_by_blocks, compiled_whole

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

HAS_GPU = torch.cuda.is_available()
MIB = 2**20


def gpt(layers=6, width=512):
    torch.manual_seed(4)
    return torch.nn.Sequential(*[Block(width) for _ in range(layers)]).cuda()


def gpt_batch():
    return torch.randn(64, 256, 512, device="cuda")


def resnet():
    torch.manual_seed(4)
    return torchvision.models.resnet50(num_classes=10).cuda()


def resnet_batch():
    return torch.randn(64, 3, 128, 128, device="cuda")


def adamw(parameters):
    return torch.optim.AdamW(parameters, fused=True)


@unittest.skipUnless(HAS_GPU, "needs a GPU")
class OnAGpu(unittest.TestCase):
    def setUp(self):
        torch.use_deterministic_algorithms(True)
        gc.collect()
        torch.cuda.empty_cache()

    def tearDown(self):
        torch.use_deterministic_algorithms(False)
        gc.collect()
        torch.cuda.empty_cache()


class Eager(OnAGpu):
    def check(self, model, make_batch, **arguments):
        arguments |= {"device": "cuda", "steps": 5}
        plain, _ = training.train(model, make_batch, **arguments)
        peak = training.peak_of(model, make_batch, **arguments)
        for share in (0.6, 0.4):
            for means in ("recompute", "host", "mixed"):
                with self.subTest(share=share, means=means):
                    training.check_managed(self, plain, model, make_batch, int(peak * share),
                                           means=means, **arguments)

    def test_a_resnet(self):
        self.check(resnet(), resnet_batch)

    def test_a_gpt(self):
        self.check(gpt(), gpt_batch, make_optimizer=adamw)

    def test_torch_counts_no_more_than_the_budget(self):
        model, budget = resnet(), 1500 * MIB
        training.train(model, resnet_batch, device="cuda", budget=budget)
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        training.train(model, resnet_batch, device="cuda", budget=budget, steps=6)
        self.assertLessEqual(torch.cuda.max_memory_allocated(), budget)
        self.assertLessEqual(torch.cuda.max_memory_reserved(), budget)

    def test_a_share_of_the_plain_peak(self):
        model = resnet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        with lowtide.budget("50%", device="cuda"):
            for _ in range(8):
                model(resnet_batch()).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
            stats = lowtide.memory_stats()
        self.assertGreater(stats["evictions"], 0)

    def test_half_precision_with_a_scaler(self):
        def run(budget):
            model = gpt()
            optimizer, scaler = adamw(model.parameters()), torch.amp.GradScaler()
            torch.manual_seed(7)
            with lowtide.budget(budget, device="cuda") if budget else contextlib.nullcontext():
                for _ in range(5):
                    with torch.autocast("cuda", torch.float16):
                        loss = model(gpt_batch()).float().square().mean()
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()
                stats = lowtide.memory_stats() if budget else {}
                return training.bits([loss, list(model.state_dict().values()), scaler.state_dict()]), stats

        plain, _ = run(None)
        _, free = run("100GiB")
        managed, stats = run(int(0.6 * free["peak_bytes"]))
        self.assertIsNone(training.first_difference(plain, managed))
        self.assertGreater(stats["evictions"], 0)

    def test_too_small_a_budget_is_torchs_own_error(self):
        with self.assertRaises(torch.OutOfMemoryError) as caught:
            training.train(resnet(), resnet_batch, device="cuda", budget=300 * MIB)
        self.assertEqual(len(caught.exception.args), 1)
        # What has failed leaves the card usable.
        training.train(resnet(), resnet_batch, device="cuda", steps=1)

    def test_verify_trace_and_report(self):
        model = resnet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        def step():
            model(resnet_batch()).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

        step.state = (model, optimizer)
        trace = lowtide.trace(step, device="cuda").json
        self.assertIn("cudnn_batch_norm", trace)
        with lowtide.budget("1500MiB", device="cuda", report=True):
            for _ in range(6):
                step()
        self.assertTrue("<html" in lowtide.last_report().html())


class Compiled(OnAGpu):
    def steps(self, model, make_batch, budget=None):
        """Like training.train(), for a model that is not copied: compiled code stays compiled."""
        # Blocks share their code, and torch compiles one function only so many times.
        torch._dynamo.reset()
        gc.collect()
        optimizer = torch.optim.AdamW(model.parameters())
        torch.manual_seed(7)
        losses, stats = [], {}
        with lowtide.budget(budget, device="cuda") if budget else contextlib.nullcontext():
            for _ in range(4):
                loss = model(make_batch()).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            if budget:
                stats = lowtide.memory_stats()
        return training.bits([losses, list(model.state_dict().values())]), stats

    def check(self, make_model, compile_it, make_batch, share):
        plain, _ = self.steps(compile_it(make_model()), make_batch)
        _, stats = self.steps(compile_it(make_model()), make_batch, "100GiB")
        budget = int(stats["peak_bytes"] * share)
        managed, stats = self.steps(compile_it(make_model()), make_batch, budget)
        self.assertIsNone(training.first_difference(plain, managed))
        self.assertLessEqual(stats["peak_bytes"], budget)
        self.assertGreater(stats["evictions"], 0)

    def test_a_gpt_block_by_block(self):
        self.check(gpt, compiled_by_blocks, gpt_batch, 0.7)

    def test_a_gpt_whole(self):
        # Inside the one graph nothing can leave: what does are the optimizer's states.
        self.check(lambda: gpt(width=1024), compiled_whole,
                   lambda: torch.randn(2, 64, 1024, device="cuda"), 0.85)

    def test_a_resnet_block_by_block(self):
        self.check(resnet, compiled_by_blocks, resnet_batch, 0.8)

    def test_a_resnet_whole(self):
        self.check(resnet, compiled_whole, lambda: torch.randn(2, 3, 32, 32, device="cuda"), 0.9)


if triton:
    @triton.jit
    def _doubled(source, result, count, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(result + at, 2 * tl.load(source + at, mask=at < count), mask=at < count)


ADDRESSES = """
#include <torch/extension.h>
#include <cuda_runtime.h>
void copy_by_address(const torch::Tensor& from, torch::Tensor& to) {
  cudaMemcpyAsync(to.mutable_data_ptr<float>(), from.const_data_ptr<float>(), from.nbytes(),
                  cudaMemcpyDeviceToDevice, 0);
}
"""


class Away(OnAGpu):
    """Each test has a tensor whose bytes are on the host, because everything is evicted at once."""

    def setUp(self):
        super().setUp()
        self.budget = lowtide.budget("4GiB", device="cuda", means="host", evict_everything=True)
        self.budget.__enter__()
        torch.manual_seed(3)
        self.tensor = torch.randn(2048, 2048, device="cuda")
        self.wanted = self.tensor.cpu()
        self.tensor.add_(0)
        self.assertTrue(self.is_away())

    def tearDown(self):
        self.budget.__exit__(None, None, None)
        super().tearDown()

    def is_away(self):
        try:
            torch._C.TensorBase.data_ptr(self.tensor)
        except RuntimeError as error:
            self.assertIn("evicted", str(error))
            return True
        return False

    def assert_wanted(self, tensor):
        self.assertTrue(torch.equal(tensor.cpu(), self.wanted))

    def test_numpy_of_a_copy(self):
        self.assertTrue((self.tensor.cpu().numpy() == self.wanted.numpy()).all())

    def test_copies(self):
        self.assert_wanted(copy.deepcopy(self.tensor))
        self.assert_wanted(pickle.loads(pickle.dumps(self.tensor)))
        buffer = io.BytesIO()
        torch.save(self.tensor, buffer)
        buffer.seek(0)
        self.assert_wanted(torch.load(buffer))
        self.assertEqual(self.tensor[0].tolist(), self.wanted[0].tolist())

    def test_dlpack(self):
        other = torch.from_dlpack(self.tensor)
        torch.randn(2048, 2048, device="cuda").mul_(2)
        self.assert_wanted(other)

    @unittest.skipUnless(triton, "needs Triton")
    def test_a_triton_kernel(self):
        result = torch.empty_like(self.tensor)
        count = self.tensor.numel()
        _doubled[(triton.cdiv(count, 1024),)](self.tensor, result, count, 1024)
        self.assertTrue(torch.equal(result.cpu(), 2 * self.wanted))

    def test_other_streams(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            doubled = self.tensor * 2
            doubled.record_stream(side)
        torch.cuda.current_stream().wait_stream(side)
        self.assertTrue(torch.equal(doubled.cpu(), 2 * self.wanted))

    @unittest.skipUnless(shutil.which("nvcc") and shutil.which("ninja"), "needs nvcc and ninja")
    def test_an_extension_by_address_fails_loudly_or_is_held(self):
        from torch.utils.cpp_extension import load_inline
        extension = load_inline("lowtide_addresses", ADDRESSES, functions="copy_by_address",
                                with_cuda=True)
        result = torch.zeros_like(self.tensor)
        with self.assertRaisesRegex(RuntimeError, "evicted"):
            extension.copy_by_address(self.tensor, result)
        with lowtide.hold(self.tensor), lowtide.hold(result):
            extension.copy_by_address(self.tensor, result)
        self.assert_wanted(result)


if __name__ == "__main__":
    unittest.main()
