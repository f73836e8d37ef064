# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What test_gpu.py runs in processes of their own, since a capture that fails leaves torch unusable:
CUDA graphs under a budget. Says "same", or "refused: " and why; fails if the bits differ.

usage: gpu_graphs.py held|as-it-is|compiled|compiled-within"""

import gc
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch

import gpu_subjects as subjects
import lowtide
import training


def replay(tensor):
    """A graph of one's own: what it captured are addresses."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled = tensor * 2
    for seed in range(3):
        new = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(seed)).cuda()
        tensor.copy_(new)
        # An op after which whatever may be evicted is.
        (new + 1).mul_(2)
        graph.replay()
        if not torch.equal(doubled, new * 2):
            sys.exit(f"replay {seed} differs")


def own_graph(is_held):
    with lowtide.budget("4GiB", device="cuda", means="host", evict_everything=True):
        tensor = torch.randn(2048, 2048, device="cuda").add_(0)
        if not is_held:
            replay(tensor)
            return
        with lowtide.hold(tensor):
            replay(tensor)


def train(budget=None):
    """Steps of a model whose graphs torch.compile captures."""
    torch._dynamo.reset()
    gc.collect()
    model = torch.compile(subjects.wide_gpt(), mode="reduce-overhead")
    optimizer = torch.optim.AdamW(model.parameters())
    torch.manual_seed(7)
    losses = []
    if budget:
        lowtide.enable(budget, device="cuda")
    for _ in range(5):
        loss = model(subjects.short_batch()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    result = training.bits([losses, model.state_dict()])
    if budget:
        lowtide.disable()
    return result


def compiled(budget):
    plain = train()
    difference = training.first_difference(plain, train(budget))
    if difference:
        sys.exit(f"differs: {difference}")


def main():
    torch.use_deterministic_algorithms(True)
    what = {"held": lambda: own_graph(True), "as-it-is": lambda: own_graph(False),
            "compiled": lambda: compiled("100GiB"), "compiled-within": lambda: compiled("2GiB")}
    try:
        what[sys.argv[1]]()
    except RuntimeError as error:
        print(f"refused: {type(error).__name__}: {error}", flush=True)
        # Not through the ends of what is broken now.
        os._exit(0)
    print("same")


main()
