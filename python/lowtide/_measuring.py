# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Trying a training step out: is it the same under a budget, what does it look like, how large a
batch fits."""

import copy
import dataclasses
import functools
import inspect
import pathlib
import time
from typing import Optional

import torch

from . import _budget, _library, _names, _session

# A step that does not fit is planned after the second, the next one moves things to where the plan
# wants them, and some more show whether the plan leaves enough free.
_UNTIMED_STEPS = 5
_TIMED_STEPS = 3


def _values_used_by(function, seen):
    """What a function, a method or a partial one, and the functions that it uses, refer to."""
    if isinstance(function, functools.partial):
        yield from (*function.args, *function.keywords.values())
        function = function.func
    if not inspect.isfunction(function):
        # A method's object, or one that can be called.
        owner = getattr(function, "__self__", function)
        yield from (owner, *getattr(owner, "__dict__", {}).values())
        function = inspect.unwrap(getattr(function, "__func__", type(owner).__call__))
    if not inspect.isfunction(function):
        return
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


def _dense_parts(name, tensor):
    """A sparse tensor's indices and values, of which it consists."""
    if tensor.layout is not torch.sparse_coo:
        return [(name, tensor)]
    return [(f"{name}.indices", tensor._indices()), (f"{name}.values", tensor._values())]


def _results(loss, owners):
    found = dict(_tensors_in(loss, "loss"))
    for index, owner in enumerate(owners):
        name = f"{type(owner).__name__}{index}"
        found.update(_tensors_in(owner.state_dict(), name))
        if isinstance(owner, torch.nn.Module):
            found.update((f"{name}.{key}.grad", value.grad)
                         for key, value in owner.named_parameters() if value.grad is not None)
    found.update(_tensors_in(_generator_states(), "generators"))
    return {part: value.detach().to("cpu", copy=True) for name, tensor in found.items()
            for part, value in _dense_parts(name, tensor)}


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


def _refuse_within_a_budget(name):
    if _session.current() is not None:
        raise _library.Error(f"{name}() trains plainly too, which it cannot within a budget: end that before")


def verify(step, budget, *, steps=3, state=None, **options):
    """Runs step() plainly and within the budget, from the same state, and compares its result, all
    parameters, gradients, buffers, optimizer states and generators after each step, bit for bit.

    `state`: the modules, optimizers and so on that the step changes; those that it refers to by
    itself if left out. All is as before afterwards, but for gradients, which are gone. A share of the
    plain peak ("60%") takes two steps more, which measure that.
    """
    _refuse_within_a_budget("verify")
    if not callable(step) or steps < 1:
        raise ValueError(f"verify() takes a step, which is a function, and how often to call it, not "
                         f"{step!r} and {steps!r}")
    if _budget.share_of(budget) is not None:
        steps += _budget.MEASURED_STEPS
    # A module may be a list of others.
    given = [state] if hasattr(state, "state_dict") else state
    owners = list(given) if given is not None else _owners_in(step)
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


def _wait_for_devices():
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _rate(step, batch):
    """Examples a second, once a step takes what all later ones take."""
    seconds = []
    for _ in range(_UNTIMED_STEPS + _TIMED_STEPS):
        start = time.perf_counter()
        step()
        _wait_for_devices()
        seconds.append(time.perf_counter() - start)
    # Their median.
    return batch / sorted(seconds[_UNTIMED_STEPS:])[_TIMED_STEPS // 2]


def _fits_plainly(make_step, batch, size, options):
    """Whether nothing would have to leave the device."""
    try:
        with _budget.budget(1 << 60, device=options.get("device")) as opened:
            step = make_step(batch)
            for _ in range(_budget.MEASURED_STEPS):
                step()
            return opened.stats()["peak_bytes"] <= size
    except torch.OutOfMemoryError:
        return False


def _plain_rate(make_step, batch):
    """Without a session, which would have its watching in the time; 0 where it does not train so."""
    try:
        return _rate(make_step(batch), batch)
    except torch.OutOfMemoryError:
        return 0.0


def _managed_rate(make_step, batch, size, options):
    """Within the budget; None if it does not fit."""
    try:
        with _budget.budget(size, **options | {"wait_for_plans": True}) as opened:
            step = make_step(batch)
            return _rate(lambda: _take(opened.session, step), batch)
    except torch.OutOfMemoryError:
        return None


def _largest(try_batch, most):
    """The largest batch that a try finds something for, and what: by doubling and then halving what
    is between."""
    found, batch = {0: 0.0}, 1
    while batch <= most and (result := try_batch(batch)):
        found[batch] = result
        batch *= 2
    low, high = max(found), min(batch, most + 1)
    # An eighth is exact enough for a batch.
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        if result := try_batch(middle):
            low = middle
            found[low] = result
        else:
            high = middle
    return low, found[low]


def max_batch(make_step, budget, *, most=1 << 16, **options):
    """The largest batches that train plainly and under Lowtide within a budget, to an eighth.

    make_step(batch) builds a model anew and returns a function that trains a step of it. Plainly
    means: nothing has to leave the device.
    """
    if _budget.share_of(budget) is not None:
        raise ValueError("max_batch() needs a size, such as '8GiB': the plain peak grows with the "
                         "batch")
    _refuse_within_a_budget("max_batch")
    size = _session.bytes_of(_budget.size_of(budget), options)
    plain, _ = _largest(lambda batch: _fits_plainly(make_step, batch, size, options), most)
    plain_rate = _plain_rate(make_step, plain) if plain else 0.0
    managed = _largest(lambda batch: _managed_rate(make_step, batch, size, options), most)
    return LargestBatches(plain, plain_rate, *managed)
