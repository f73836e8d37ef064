# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Trainings that the tests of this folder run plainly and under a budget, and compare bit for bit."""

import contextlib
import copy
import gc

import torch

import lowtide


def bits(value):
    """What is compared of a value: tensors as they are, everything else by equality. Copies are on
    the host, so that a later run finds the device as this one did."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(entry) for entry in value]
    return value


def first_difference(plain, managed, path=""):
    """Where two results differ; None if they are the same to the bit."""
    if isinstance(plain, torch.Tensor):
        same = plain.dtype == managed.dtype and plain.shape == managed.shape and (
            torch.equal(plain.contiguous().view(-1).view(torch.uint8),
                        managed.contiguous().view(-1).view(torch.uint8)) if plain.numel() else True)
        return None if same else path
    if isinstance(plain, dict):
        if plain.keys() != managed.keys():
            return f"{path}: other names"
        plain, managed = zip(*((plain[key], managed[key]) for key in plain)) if plain else ((), ())
    if isinstance(plain, (list, tuple)):
        if len(plain) != len(managed):
            return f"{path}: other lengths"
        for index, pair in enumerate(zip(plain, managed)):
            difference = first_difference(*pair, f"{path}/{index}")
            if difference:
                return difference
        return None
    return None if plain == managed else f"{path}: {plain} and {managed}"


def train(model, make_batch, *, steps=3, make_optimizer=None, loss_of=None, budget=None, device="cpu",
          **options):
    """Trains a copy of the model; returns all there is to compare, and the session's statistics."""
    gc.collect()  # An optimizer is part of a cycle: the run before may still hold its tensors.
    model = copy.deepcopy(model)
    make_optimizer = make_optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.01,
                                                                           momentum=0.9))
    loss_of = loss_of or (lambda output: output.float().square().mean())
    optimizer = make_optimizer(model.parameters())
    torch.manual_seed(7)
    losses, stats = [], {}
    with lowtide.budget(budget, device=device, **options) if budget else contextlib.nullcontext():
        for _ in range(steps):
            loss = loss_of(model(make_batch()))
            optimizer.zero_grad()
            loss.backward()
            gradients = [bits(p.grad) for p in model.parameters() if p.grad is not None]
            optimizer.step()
            losses.append(loss.item())
        if budget:
            stats = lowtide.memory_stats()
        state = bits([losses, gradients, model.state_dict(), optimizer.state_dict()["state"],
                      torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if device != "cpu" else ())])
    return state, stats


def peak_of(model, make_batch, **arguments):
    """What plain training holds at most, by the gate's count."""
    _, stats = train(model, make_batch, budget="1TiB", step_aside=False, **arguments)
    return stats["peak_bytes"]


def check_identity(case, model, make_batch, share, **arguments):
    """Trains plainly and within a share of the plain peak; fails `case` unless all bits are equal,
    the budget was kept and something was evicted. Returns the statistics."""
    plain, _ = train(model, make_batch, **arguments)
    budget = int(peak_of(model, make_batch, **arguments) * share)
    return check_managed(case, plain, model, make_batch, budget, **arguments)


def check_managed(case, plain, model, make_batch, budget, **arguments):
    """The same, where the plain result is known."""
    managed, stats = train(model, make_batch, budget=budget, **arguments)
    case.assertIsNone(first_difference(plain, managed))
    case.assertLessEqual(stats["peak_bytes"], budget)
    case.assertGreater(stats["evictions"], 0)
    return stats
