# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""How each model is trained: its batch, its optimizer and one training step."""

import dataclasses
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from recorder.models import Gpt, Lstm, UNet, densenet121, mlp, resnet50


def image_batch(batch: int, size: int, device: torch.device):
    return torch.randn(batch, 3, size, size, device=device), torch.randint(1000, (batch,), device=device)


def segmentation_batch(batch: int, size: int, device: torch.device):
    return torch.randn(batch, 3, size, size, device=device), torch.randint(21, (batch, size, size), device=device)


def token_batch(vocabulary: int):
    return lambda batch, size, device: [torch.randint(vocabulary, (batch, size), device=device) for _ in range(2)]


def vector_batch(batch: int, size: int, device: torch.device):
    return torch.randn(batch, size, device=device), torch.randint(10, (batch,), device=device)


@dataclasses.dataclass
class Recipe:
    """How one model is trained. `size` is the side of the image, the sequence length or the vector's width."""
    build: Callable[[], nn.Module]
    make_batch: Callable
    batch: int
    size: int
    optimizer: str
    autocast: torch.dtype | None = None


RECIPES = {
    "mlp": Recipe(mlp, vector_batch, 64, 512, "sgd"),
    "resnet50": Recipe(resnet50, image_batch, 64, 224, "sgd"),
    "densenet121": Recipe(densenet121, image_batch, 64, 224, "sgd"),
    "unet": Recipe(UNet, segmentation_batch, 16, 256, "sgd"),
    "gpt": Recipe(Gpt, token_batch(Gpt.vocabulary), 4, 1024, "adamw", torch.bfloat16),
    "lstm": Recipe(Lstm, token_batch(Lstm.vocabulary), 64, 100, "adam"),
}


def make_optimizer(name: str, parameters) -> torch.optim.Optimizer:
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4, foreach=True)
    if name == "adam":
        return torch.optim.Adam(parameters, lr=1e-4, foreach=True)
    return torch.optim.AdamW(parameters, lr=1e-4, foreach=True)


class Task:
    """A model, its optimizer and its batch; `step` is one training step."""

    def __init__(self, recipe: Recipe, batch: int, size: int, device: torch.device):
        torch.manual_seed(0)
        self.recipe, self.size, self.device = recipe, size, device
        self.model = recipe.build().to(device)
        self.optimizer = make_optimizer(recipe.optimizer, self.model.parameters())
        self.set_batch(batch)

    def set_batch(self, batch: int) -> None:
        self.inputs, self.labels = self.recipe.make_batch(batch, self.size, self.device)

    def step(self, enter_phase: Callable[[str], None] = lambda phase: None) -> torch.Tensor:
        enter_phase("forward")
        with torch.autocast(self.device.type, self.recipe.autocast, enabled=self.recipe.autocast is not None):
            loss = self.loss(self.model(self.inputs))
        enter_phase("backward")
        loss.backward()
        enter_phase("optimizer")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss

    def loss(self, outputs: torch.Tensor) -> torch.Tensor:
        if isinstance(self.model, (Gpt, Lstm)):
            return functional.cross_entropy(outputs.flatten(0, 1), self.labels.flatten())
        return functional.cross_entropy(outputs, self.labels)

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
