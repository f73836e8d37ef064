# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Weights of a user's own modules as products of smaller ones, and back. This changes what a model
computes, and nothing else in Lowtide does."""

import collections
import collections.abc
import dataclasses
import difflib
import math
from typing import Optional

import torch

from . import _factors, _weights_file, layers as _layers

_DEFAULT_RANK = "compression=0.5"
# Norm of what is lost over that of the weight.
_HARDLY_ANYTHING = 1e-3
_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclasses.dataclass
class LayerReport:
    """What became of a layer. `reason`: why it is as it was; empty if it is not."""
    name: str
    form: str
    parameters_before: int
    parameters_after: int
    relative_error: Optional[float] = None
    reason: str = ""

    def __str__(self):
        if self.reason:
            return f"{self.name or '(the module)'}: {self.form}: {self.reason}"
        error = "" if self.relative_error is None else f", relative error {self.relative_error:.3g}"
        return (f"{self.name or '(the module)'}: {self.form}, {self.parameters_before:,} -> "
                f"{self.parameters_after:,} parameters{error}")


@dataclasses.dataclass
class DecompositionReport:
    """All layers that have weights to speak of, in the module's order."""
    layers: list

    @property
    def forms(self):
        """The forms of the decomposed layers by name, as decompose() takes them."""
        return {layer.name: layer.form for layer in self.layers if layer.form != "dense"}

    def __str__(self):
        return "\n".join(map(str, self.layers))


def _is_strided(tensor):
    return tensor.layout is torch.strided and not tensor.is_nested


def _place_of(parameter):
    """The same for two parameters that begin at the same element of one memory, whether they are one
    object or not. Sparse ones have no such memory."""
    if type(parameter) is not torch.nn.Parameter or parameter.is_meta or not _is_strided(parameter):
        return id(parameter)
    return parameter.untyped_storage()._cdata, parameter.storage_offset()


def _uses_of_parameters(module):
    """In how many places each parameter is."""
    uses = collections.Counter()
    for _, owner in module.named_modules(remove_duplicate=False):
        uses.update(_place_of(parameter) for parameter in owner._parameters.values()
                    if parameter is not None)
    return uses


def _refusal(layer, uses):
    """Why a layer with a weight stays as it is; "" if it can be decomposed."""
    weight = layer.weight
    kind = type(layer)
    if isinstance(layer, _layers.DECOMPOSED):
        return "it is decomposed already"
    if torch.nn.parameter.is_lazy(weight):
        return "its weight has no sizes yet: use the module once"
    if _layers.decomposed_class(kind) is None:
        return f"it is a {kind.__name__}, and only torch.nn.Linear and torch.nn.Conv2d are decomposed"
    if type(weight) is not torch.nn.Parameter or weight.dtype not in _TYPES:
        return f"its weight is a {type(weight).__name__} of {weight.dtype}"
    if not _is_strided(weight):
        return "its weight is sparse or nested"
    if weight.is_meta:
        return "its weight has no values yet: it is on the device meta"
    if getattr(layer, "groups", 1) != 1:
        return (f"a grouped convolution ({layer.groups} groups) is not decomposed: its groups are "
                "small already")
    if uses[_place_of(weight)] > 1:
        return "its weight is shared with another layer"
    if layer._forward_pre_hooks:
        return "it has hooks that run before it, which may expect its weight"
    if weight._backward_hooks or getattr(weight, "_post_accumulate_grad_hooks", None):
        return "its weight has hooks, which its factors would not have"
    return ""


def _is_matrix(weight):
    """Or a kernel, or one that has no sizes yet."""
    return isinstance(weight, torch.Tensor) and (torch.nn.parameter.is_lazy(weight) or weight.dim() >= 2)


def _weighted_layers(module):
    """(name, layer) of all with a matrix or a kernel as their weight."""
    return [(name, layer) for name, layer in module.named_modules()
            if isinstance(layer, _layers.DECOMPOSED)
            or _is_matrix(layer._parameters.get("weight"))]


def _nearest(name, known):
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _chosen_layers(module, names):
    """The layers of these names, each with its refusal; without names all."""
    uses = _uses_of_parameters(module)
    found = {name: (layer, _refusal(layer, uses)) for name, layer in _weighted_layers(module)}
    if names is None:
        return found
    for name in names:
        if name not in found:
            raise ValueError(f"there is no layer {name!r}{_nearest(name, list(found))}")
        if found[name][1]:
            raise ValueError(f"layer {name!r}: {found[name][1]}")
    return {name: found[name] for name in names}


def _require_finite(name, weight):
    if not torch.isfinite(weight.detach()).all():
        raise ValueError(f"layer {name!r}: the weight has values that are not finite, so there is "
                         "nothing to decompose; go back to a checkpoint from before")


def _elements(shapes):
    return sum(math.prod(shape) for shape in shapes)


def _count(layer):
    """The parameters of the weight as it is."""
    weights = layer.factors() if isinstance(layer, _layers.DECOMPOSED) else [layer.weight]
    return sum(0 if torch.nn.parameter.is_lazy(weight) else weight.numel() for weight in weights)


def _form_for(weight, given, method, rank, is_reconstructed):
    """The form that a weight shall have. Raises ValueError if it cannot have one."""
    if given is not None:
        return given
    form = _factors.choose_form(weight, method, rank)
    count = _elements(_factors.shapes_of(form, weight.shape).values())
    if count >= weight.numel():
        raise ValueError(f"{form} has {count:,} parameters, and the dense weight {weight.numel():,}")
    return form + (_factors.RECONSTRUCTED if is_reconstructed else "")


def _factorised(name, weight, form):
    factors, error = _factors.factorise(weight, form)
    after = _elements(factor.shape for factor in factors.values())
    return factors, LayerReport(name, form, weight.numel(), after, error)


def _require_free(layer, form):
    """What the user registered or set himself is not written over."""
    for name in (*_factors.names_of(form), "form"):
        if hasattr(layer, name):
            raise ValueError(f"it has a {name!r} of its own, which a decomposed layer needs")


def _replace_weight(layer, kind, parameters):
    """Puts these where the weight, or its factors, are among the layer's parameters; the user may have
    registered others, whatever they are called."""
    own = _factors.names_of(layer.form) if isinstance(layer, _layers.DECOMPOSED) else ("weight",)
    others = {name: value for name, value in layer._parameters.items() if name not in own}
    layer._parameters.clear()
    layer.__class__ = kind
    for name, value in parameters.items():
        layer.register_parameter(name, value)
    layer._parameters.update(others)


def _install(layer, form, factors):
    """Has a dense layer become a decomposed one with these factors."""
    is_trained = layer.weight.requires_grad
    kind = _layers.decomposed_class(type(layer))
    _replace_weight(layer, kind, {name: torch.nn.Parameter(factor, requires_grad=is_trained)
                                  for name, factor in factors.items()})
    layer.form = form


def _names_and_forms(layers):
    """What decompose() is given as `layers`: names, or names with their forms."""
    if layers is None:
        return None, {}
    if isinstance(layers, str):
        raise TypeError("layers is a list of names, or a dict of names and forms, not a text")
    names = list(layers)
    for name, form in dict(layers).items() if isinstance(layers, collections.abc.Mapping) else ():
        if not isinstance(form, str):
            raise TypeError(f"layer {name!r}: a form is a text such as 'svd 32', not {form!r}")
    return names, dict(layers) if isinstance(layers, collections.abc.Mapping) else {}


def _rank_text(rank):
    if isinstance(rank, bool) or not isinstance(rank, (int, str)):
        raise TypeError("a rank is a whole number, 'compression=0.5', 'energy=0.1' or 'evbmf', not "
                        f"{rank!r}; two ranks are a form: {{'conv1': 'tucker2 16x24'}}")
    return str(rank)


def _require_trained(weight, report):
    if report.relative_error > _HARDLY_ANYTHING and _factors.is_noise(weight):
        raise ValueError("its weight looks untrained: nothing of it stands out of random numbers, so "
                         f"{report.form} loses what there is; train the module first, or pass "
                         "untrained=True")


def _looked_at(module, names, forms, settings, untrained):
    """Factors and reports of all layers, before anything is changed."""
    results = []
    for name, (layer, reason) in _chosen_layers(module, names).items():
        factors = None
        count = _count(layer)
        form = layer.form if isinstance(layer, _layers.DECOMPOSED) else "dense"
        report = LayerReport(name, form, count, count, reason=reason)
        if not reason:
            _require_finite(name, layer.weight)
            try:
                weight = _layers.turned(layer, layer.weight)
                form = _form_for(weight, forms.get(name), *settings)
                made, its_report = _factorised(name, weight, form)
                _require_free(layer, form)
                if not untrained:
                    _require_trained(weight, its_report)
                factors, report = made, its_report
            except ValueError as error:
                if names is not None:
                    raise ValueError(f"layer {name!r}: {error}") from None
                report.reason = str(error)
        results.append((layer, factors, report))
    return results


def decompose(module, layers=None, *, method="auto", rank=_DEFAULT_RANK, reconstructed=False,
              untrained=False):
    """Decomposes the weights of torch.nn.Linear and torch.nn.Conv2d layers of a module, in place.

        lowtide.decompose(model)                                          # all that get smaller
        lowtide.decompose(model, ["fc"], rank=64)                         # these
        lowtide.decompose(model, {"conv1": "tucker2 16x24", "fc": "svd 64"})

    Each layer stays the same object at its place, and its weight becomes two to four factors
    ("conv1.weight_in", "conv1.weight_core", "conv1.weight_out"), whose product is close to it. Make
    the optimizer after this: one that was made before does not know the factors, and its states cannot
    be carried over. What the model computes changes; train it on until its accuracy is back.

    method: "svd" (linear and 1x1 layers, which have no other), "tucker2", "cp3", "cp4" (convolutions),
    or "auto": tucker2 for convolutions. rank: "compression=0.5" (that share of the layer's parameters),
    "energy=0.1" (what is left out of the weight's squares), "evbmf" (what is above noise), or a number.
    reconstructed: the factors are trained, and the dense weight is put together in each step; no
    activations are added, and no work is saved. untrained: weights that look untrained, of which nothing
    stands out of random numbers, are decomposed all the same, and lose what there is of them.

    Without `layers`, a layer that cannot be decomposed, or would not get smaller, stays dense and has
    a reason in the result; a layer that is named raises ValueError instead, and nothing has changed.
    """
    names, forms = _names_and_forms(layers)
    text = _rank_text(rank)
    if forms and (method, rank, reconstructed) != ("auto", _DEFAULT_RANK, False):
        raise ValueError("layers with forms have their method and ranks: leave method, rank and "
                         "reconstructed out")
    # Wrong ones are said to be, even if no layer asks.
    _factors.choose_form(torch.ones(2, 2), method, text)
    results = _looked_at(module, names, forms, (method, text, reconstructed), untrained)
    if not any(factors for _, factors, _ in results):
        reports = "\n".join(str(report) for _, _, report in results)
        raise ValueError(f"no layer can be decomposed so:\n{reports}" if reports else
                         "the module has no layers with weights")
    for layer, factors, report in results:
        if factors:
            _install(layer, report.form, factors)
    return DecompositionReport([report for _, _, report in results])


def merge(module):
    """Puts the weights of all decomposed layers together again, in place, for export: they are
    torch.nn.Linear and torch.nn.Conv2d as before. Returns how many there were. Make the optimizer anew
    to train on."""
    count = 0
    with torch.no_grad():
        for layer in module.modules():
            if not isinstance(layer, _layers.DECOMPOSED):
                continue
            dense = torch.nn.Parameter(layer.weight.contiguous(),
                                       requires_grad=layer.factors()[0].requires_grad)
            _replace_weight(layer, layer.dense_class, {"weight": dense})
            del layer.form
            count += 1
    return count


def _saved_forms(texts, tensors, dense_sizes):
    """The forms of decomposed layers in a saved state, by name."""
    forms = {}
    for name in tensors:
        layer, _, factor = name.rpartition(".")
        if factor != "weight_in" or layer in forms:
            continue
        if layer not in dense_sizes:
            raise ValueError(f"the state has a decomposed layer {layer!r}, and the module has no such "
                             f"layer{_nearest(layer, list(dense_sizes))}")
        prefix = f"{layer}." if layer else ""
        # A layer may have parameters of its own that are called weight_something.
        shapes = {key[len(prefix):]: tuple(value.shape) for key, value in tensors.items()
                  if key.startswith(prefix) and key[len(prefix):] in _factors.ALL_NAMES}
        form = _factors.form_of(shapes, dense_sizes[layer])
        if form is None:
            raise ValueError(f"the factors of layer {layer!r} do not go with a weight of the sizes "
                             f"{tuple(dense_sizes[layer])}: {shapes}")
        forms[layer] = texts.get(f"form/{layer}", form)
    return forms


def _matrix_sizes(layer):
    """Of the dense weight, with the outputs first; none where it has none yet."""
    if isinstance(layer, _layers.DECOMPOSED):
        return layer.matrix_sizes()
    if torch.nn.parameter.is_lazy(layer.weight):
        return ()
    return tuple(_layers.turned(layer, layer.weight).shape)


def _require_loadable(weighted, forms, uses):
    """Layers that are dense must be able to become what the state has."""
    for name, form in forms.items():
        if isinstance(weighted[name], _layers.DECOMPOSED):
            continue
        if reason := _refusal(weighted[name], uses):
            raise ValueError(f"layer {name!r}: {reason}")
        try:
            _require_free(weighted[name], form)
        except ValueError as error:
            raise ValueError(f"layer {name!r}: {error}") from None


class _Undo:
    """Puts a module back as it was before some of its layers got other weights and the rest was written
    over in place."""

    def __init__(self, module, replaced):
        self._layers = [(layer, type(layer), dict(layer._parameters), layer.__dict__.get("form"))
                        for layer in replaced]
        kept = {id(parameter) for layer in replaced for parameter in (
            layer.factors() if isinstance(layer, _layers.DECOMPOSED) else [layer.weight])}
        # In host memory, since the device may have no room for them.
        self._values = [(value, value.detach().to("cpu", copy=True))
                        for value in module.state_dict(keep_vars=True).values()
                        if isinstance(value, torch.Tensor) and id(value) not in kept
                        and not value.is_meta and not torch.nn.parameter.is_lazy(value)]

    def put_back(self):
        for layer, kind, parameters, form in self._layers:
            layer._parameters.clear()
            layer.__class__ = kind
            layer._parameters.update(parameters)
            layer.__dict__.pop("form", None)
            if form is not None:
                layer.form = form
        with torch.no_grad():
            for value, copy in self._values:
                value.copy_(copy)


def load_decomposed(module, source):
    """Gives a module the decomposed layers of a saved state, and loads it; returns their forms by name.

    source: a file that `lowtide decompose -o` wrote, or a state_dict of a module that was decomposed
    (of torch.save, say). The module is a dense one, or any decomposed one. Whether layers were
    reconstructed is not in a state_dict: it is the same function, and the file says so. If anything does
    not fit, the module stays as it was.
    """
    texts, tensors = ({}, source) if isinstance(source, collections.abc.Mapping) else (
        _weights_file.read(source))
    weighted = dict(_weighted_layers(module))
    sizes = {name: _matrix_sizes(layer) for name, layer in weighted.items()}
    forms = _saved_forms(texts, tensors, sizes)
    _require_loadable(weighted, forms, _uses_of_parameters(module))
    undo = _Undo(module, [layer for name, layer in weighted.items()
                          if name in forms or isinstance(layer, _layers.DECOMPOSED)])
    try:
        merge(module)
        for name, form in forms.items():
            weight = weighted[name].weight
            _install(weighted[name], form,
                     {factor: torch.zeros(shape, dtype=weight.dtype, device=weight.device)
                      for factor, shape in _factors.shapes_of(form, sizes[name]).items()})
        module.load_state_dict(tensors)
    except BaseException:
        undo.put_back()
        raise
    return forms
