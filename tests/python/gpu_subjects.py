# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What test_gpu.py trains and calls: models, kernels in Triton, operators of one's own."""

import torch
import torchvision
from torchvision.models.resnet import BasicBlock

from test_compiled import Block

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None


def gpt(layers=8, width=512):
    torch.manual_seed(4)
    return torch.nn.Sequential(*[Block(width) for _ in range(layers)]).cuda()


def gpt_batch():
    return torch.randn(48, 256, 512, device="cuda")


def wide_gpt():
    """Nearly all of its memory is parameters, gradients and the optimizer's states."""
    return gpt(layers=6, width=1024)


def short_batch():
    return torch.randn(1, 32, 1024, device="cuda")


def resnet(name="resnet50"):
    torch.manual_seed(4)
    return torchvision.models.get_model(name, weights=None, num_classes=10).cuda()


def resnet_batch():
    return torch.randn(64, 3, 128, 128, device="cuda")


def resnet18():
    return resnet("resnet18")


def small_resnet_batch():
    return torch.randn(2, 3, 32, 32, device="cuda")


def compiled_by_blocks(model):
    for module in model.modules():
        if isinstance(module, (Block, BasicBlock)):
            module.compile()
    return model


class Recurrent(torch.nn.Module):
    """Layers of cuDNN's, each an op."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.LSTM(512, 512) for _ in range(8))

    def forward(self, x):
        for layer in self.layers:
            x, _ = layer(x)
        return x


def recurrent():
    torch.manual_seed(4)
    return Recurrent().cuda()


def recurrent_batch():
    return torch.randn(128, 64, 512, device="cuda")


if triton:
    @triton.jit
    def _scaled(source, result, factor, count, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(result + at, factor * tl.load(source + at, mask=at < count), mask=at < count)

    def launch_scaled(source, result, factor):
        """Triton takes the addresses of both; they may be the same."""
        count = source.numel()
        _scaled[(triton.cdiv(count, 1024),)](source, result, factor, count, 1024)

    @torch.library.custom_op("lowtide_gpu_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
        """An operator in Triton."""
        x = x.contiguous()
        result = torch.empty_like(x)
        launch_scaled(x, result, factor)
        return result

    scaled.register_autograd(
        lambda ctx, gradient: (scaled(gradient, ctx.factor), None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))

    @torch.library.custom_op("lowtide_gpu_tests::scale_", mutates_args=("x",))
    def scale_in_place(x: torch.Tensor, factor: float) -> None:
        """An operator in Triton that writes to its argument."""
        launch_scaled(x, x, factor)


class WithOwnOperator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(1024, 1024) for _ in range(8))

    def forward(self, x):
        for layer in self.layers:
            x = scaled(layer(x).relu(), 0.5)
        return x


def with_own_operator():
    torch.manual_seed(4)
    return WithOwnOperator().cuda()


def rows_batch():
    return torch.randn(16384, 1024, device="cuda")


# An extension that goes around torch's dispatcher.
ADDRESSES = """
#include <torch/extension.h>
#include <cuda_runtime.h>
void copy_by_address(const torch::Tensor& from, torch::Tensor& to) {
  cudaMemcpyAsync(to.mutable_data_ptr<float>(), from.const_data_ptr<float>(), from.nbytes(),
                  cudaMemcpyDeviceToDevice, 0);
}
"""


# A program that knows nothing of Lowtide, but for its last lines.
SCRIPT = """
import sys
import torch
torch.manual_seed(1)
model = torch.nn.Sequential(*[layer for _ in range(8) for layer in (
    torch.nn.Linear(1024, 1024), torch.nn.GELU())]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(6):
    loss = model(torch.randn(8192, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item().hex(), torch.cuda.max_memory_allocated())
if "lowtide" in sys.modules:
    stats = sys.modules["lowtide"].memory_stats()
    assert stats["peak_bytes"] <= stats["budget_bytes"], stats
    print("evictions", stats["evictions"], file=sys.stderr)
"""


def lightning_module(lightning):
    """A class: the library has two names."""
    class Net(lightning.LightningModule):
        def __init__(self, batch_size=8192):
            super().__init__()
            self.batch_size = batch_size
            torch.manual_seed(2)
            self.net = torch.nn.Sequential(*[layer for _ in range(8) for layer in (
                torch.nn.Linear(1024, 1024), torch.nn.GELU())])

        def training_step(self, batch, _):
            return self.net(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

        def train_dataloader(self):
            inputs = torch.randn(1 << 16, 1024, generator=torch.Generator().manual_seed(1))
            return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs),
                                               batch_size=self.batch_size)

    return Net
