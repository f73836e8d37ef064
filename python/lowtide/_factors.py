# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A weight and its factors. What they are is computed by the library; how they are put together again
is plain torch, which autograd and compilers see."""

import ctypes
import json

import torch

from . import _library

RECONSTRUCTED = " reconstructed"
_NAMES = {
    "svd": ("weight_in", "weight_out"),
    "tucker2": ("weight_in", "weight_core", "weight_out"),
    "cp3": ("weight_in", "weight_space", "weight_out"),
    "cp4": ("weight_in", "weight_column", "weight_row", "weight_out"),
}
# Of all forms.
ALL_NAMES = {name for names in _NAMES.values() for name in names}


def names_of(form):
    """The names of a form's factors, in the order in which they are applied."""
    return _NAMES[form.split()[0]]


def shapes_of(form, sizes):
    """The sizes of the factors by name. Raises ValueError, with the nearest that works, for a form that
    a weight of these sizes cannot have."""
    count = len(sizes)
    return dict(json.loads(_library.text_of("lowtide_factor_shapes", form.encode(),
                                            (ctypes.c_int64 * count)(*sizes), count)))


def choose_form(weight, method, rank):
    """The form by a rule such as "energy=0.1" for a weight."""
    return _library.text_of("lowtide_choose_form", weight._cdata, method.encode(), rank.encode())


def is_noise(weight):
    """Whether nothing of the weight stands out of random numbers, as of one that nobody trained."""
    answer = ctypes.c_int()
    _library.call("lowtide_is_noise", weight._cdata, ctypes.byref(answer))
    return bool(answer.value)


def factorise(weight, form):
    """The factors by name, and the norm of what is lost over that of the weight."""
    weight = weight.detach()
    factors = {name: torch.empty(shape, dtype=weight.dtype, device=weight.device)
               for name, shape in shapes_of(form, weight.shape).items()}
    error = ctypes.c_double()
    pointers = (ctypes.c_void_p * len(factors))(*(factor._cdata for factor in factors.values()))
    _library.call("lowtide_factorise", weight._cdata, form.encode(), pointers, len(factors),
                  ctypes.byref(error))
    return factors, error.value


def form_of(factors, sizes):
    """The form that factors of these sizes belong to, such as a saved state has them; None if there is
    none. `factors`: sizes by name; `sizes`: of the weight."""
    for method, names in _NAMES.items():
        if set(names) != set(factors):
            continue
        ranks = [factors["weight_in"][0]]
        if method == "tucker2":
            ranks.append(factors["weight_core"][0])
        form = f"{method} {'x'.join(map(str, ranks))}"
        try:
            expected = shapes_of(form, sizes)
        except ValueError:
            return None
        return form if all(list(factors[name]) == expected[name] for name in names) else None
    return None


def product(form, factors, sizes):
    """The weight that factors stand for; differentiable."""
    into, out = factors[0].flatten(1), factors[-1].flatten(1)
    method = form.split()[0]
    if method == "svd":
        return (out @ into).view(sizes)
    if method == "tucker2":
        core = factors[1]
        wide = (out @ core.flatten(1)).view(sizes[0], core.shape[1], -1)
        return (into.t() @ wide).view(sizes)
    space = factors[1] if method == "cp3" else factors[1] * factors[2]
    return (out @ (factors[0] * space).flatten(1)).view(sizes)
