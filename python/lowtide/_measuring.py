# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Trying a training step out: is it the same under a budget, what does it look like, how large a
batch fits."""

import copy
import dataclasses
import inspect
import pathlib
import time
from typing import Optional

import torch

from . import _budget, _names, _session


def _values_used_by(function, seen):
    """What a function, and the functions that it uses, refer to."""
    seen.add(function)
    variables = inspect.getclosurevars(function)
    for value in (*variables.nonlocals.values(), *variables.globals.values()):
        yield value
        if inspect.isfunction(value) and value not in seen:
            yield from _values_used_by(value, seen)


def _owners_in(step):
    """The modules, optimizers and the like that a function uses: those with a state_dict."""
    owners = {id(value): value for value in _values_used_by(inspect.unwrap(step), set())
              if hasattr(value, "state_dict") and hasattr(value, "load_state_dict")
              and not inspect.isclass(value)}
    if not owners:
        raise ValueError("nothing with a state was found in the step: pass state=[model, optimizer]")
    return list(owners.values())


def _snapshot(owners):
    return [copy.deepcopy(owner.state_dict()) for owner in owners]


def _restore(owners, states):
    for owner, state in zip(owners, states):
        owner.load_state_dict(copy.deepcopy(state))
        if isinstance(owner, torch.nn.Module):
            owner.zero_grad(set_to_none=True)


def _generator_states():
    states = [torch.get_rng_state()]
    if torch.cuda.is_available():
        states += torch.cuda.get_rng_state_all()
    return states


def _set_generators(states):
    torch.set_rng_state(states[0])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states[1:])


def _tensors_in(value, path):
    """Yields (name, tensor) of all tensors and numbers in nested states."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _tensors_in(entry, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            yield from _tensors_in(entry, f"{path}[{index}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, torch.tensor(value)


def _results(loss, owners):
    found = dict(_tensors_in(loss, "loss"))
    for index, owner in enumerate(owners):
        name = f"{type(owner).__name__}{index}"
        found.update(_tensors_in(owner.state_dict(), name))
        if isinstance(owner, torch.nn.Module):
            found.update((f"{name}.{key}.grad", value.grad)
                         for key, value in owner.named_parameters() if value.grad is not None)
    found.update(_tensors_in(_generator_states(), "generators"))
    return {name: value.detach().to("cpu", copy=True) for name, value in found.items()}


@dataclasses.dataclass
class Verdict:
    """What verify() found. `difference`: step, tensor, index, both values; None if identical."""
    identical: bool
    steps: int
    difference: Optional[str]
    stats: dict

    def __bool__(self):
        return self.identical


def _bytes_of(value):
    """A row for each element, in their order."""
    return value.contiguous().view(-1, 1).view(torch.uint8)


def _text_of(value, index):
    """What an element is. There are many NaNs, so these come with their bits."""
    number = value[index].item()
    if number == number:
        return repr(number)
    return f"{number!r} (0x{bytes(reversed(_bytes_of(value[index])[0].tolist())).hex()})"


def _first_differing(wanted, got):
    """The index of the first element of other bytes; None if all are the same."""
    as_bytes = [_bytes_of(value) for value in (wanted, got)]
    if torch.equal(*as_bytes):
        return None
    differs = (as_bytes[0] != as_bytes[1]).any(1)
    return tuple(map(int, torch.unravel_index(differs.int().argmax(), wanted.shape)))


def _difference(step, plain, managed):
    for name, wanted in plain.items():
        got = managed.get(name)
        if got is None:
            return f"step {step}: {name} is missing"
        if wanted.shape != got.shape or wanted.dtype != got.dtype:
            return f"step {step}: {name} has another shape or type"
        index = _first_differing(wanted, got) if wanted.numel() else None
        if index is not None:
            return (f"step {step}: {name}{list(index)}: {_text_of(wanted, index)} plainly, "
                    f"{_text_of(got, index)} within the budget")
    return None


def verify(step, budget, *, steps=3, state=None, **options):
    """Runs step() plainly and within the budget, from the same state, and compares its result, all
    parameters, gradients, buffers, optimizer states and generators after each step, bit for bit.

    `state`: the modules, optimizers and so on that the step changes; those that it refers to by
    itself if left out. All is as before afterwards, but for gradients, which are gone.
    """
    owners = list(state) if state is not None else _owners_in(step)
    states, generators = _snapshot(owners), _generator_states()
    try:
        plain = [_results(step(), owners) for _ in range(steps)]
        _restore(owners, states)
        _set_generators(generators)
        with _budget.budget(budget, **options) as opened:
            difference = None
            for number in range(steps):
                difference = _difference(number + 1, plain[number], _results(step(), owners))
                if difference:
                    break
            stats = opened.stats()
    finally:
        _restore(owners, states)
        _set_generators(generators)
    return Verdict(difference is None, steps, difference, stats)


@dataclasses.dataclass
class Trace:
    """A recorded step, which `lowtide plan`, `simulate`, `compare` and `report` read."""
    json: str

    def save(self, path):
        pathlib.Path(path).write_text(self.json, encoding="utf-8")


def _take(session, step):
    """A step that ends, whether or not an optimizer says so."""
    before = session.stats()["steps"]
    step()
    if session.stats()["steps"] == before:
        session.end_step()


def trace(step, *, name="captured", model=None, device=None):
    """Records a step. step() is called twice: the first time it may make optimizer states."""
    session = _session.Session(device=device, step_aside=False)
    try:
        if model is not None:
            session.name_parameters(model)
        else:
            _names.name_models(session)
        session.capture_next_step()
        _take(session, step)
        _take(session, step)
        return Trace(session.captured(name))
    finally:
        session.close()


@dataclasses.dataclass
class LargestBatches:
    """What max_batch() found; 0 where none fits. Rates are examples a second."""
    plain: int
    plain_rate: float
    managed: int
    managed_rate: float


def _rate(make_step, batch, budget, options, is_managed):
    """Examples a second with this batch; None if it does not fit."""
    steps = 3
    try:
        with _budget.budget(budget if is_managed else 1 << 60, **options) as opened:
            step = make_step(batch)
            step()
            start = time.perf_counter()
            for _ in range(steps):
                step()
            seconds = time.perf_counter() - start
            peak = opened.stats()["peak_bytes"]
    except torch.OutOfMemoryError:
        return None
    if not is_managed and peak > budget:
        return None
    return steps * batch / seconds


def _largest(rate_of, most):
    """The largest batch with a rate, by doubling and then halving what is between."""
    rates, batch = {0: 0.0}, 1
    while batch <= most and (rate := rate_of(batch)) is not None:
        rates[batch] = rate
        batch *= 2
    low, high = max(rates), min(batch, most + 1)
    # An eighth is exact enough for a batch.
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        rate = rate_of(middle)
        if rate is None:
            high = middle
        else:
            low = middle
            rates[low] = rate
    return low, rates[low]


def max_batch(make_step, budget, *, most=1 << 16, **options):
    """The largest batches that train plainly and under Lowtide within a budget, to an eighth.

    make_step(batch) builds a model anew and returns a function that trains a step of it. Plainly
    means: nothing has to leave the device.
    """
    if _budget.share_of(budget) is not None:
        raise ValueError("max_batch() needs a size, such as '8GiB': the plain peak grows with the "
                         "batch")
    size = _session.bytes_of(_budget.size_of(budget), options)
    plain = _largest(lambda batch: _rate(make_step, batch, size, options, False), most)
    managed = _largest(lambda batch: _rate(make_step, batch, size, options, True), most)
    return LargestBatches(*plain, *managed)
