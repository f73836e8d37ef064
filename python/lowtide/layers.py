# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Layers whose weight is a product of smaller ones. lowtide.decompose() makes them of torch.nn.Linear,
torch.nn.Conv2d and Hugging Face's Conv1D: the object stays the same, and becomes one of these
classes."""

import sys

import torch
from torch.nn import functional

from . import _factors


def _chain_of_convolutions(layer, x):
    """The layer as convolutions with its factors: narrow, with the kernel at the rank, and wide."""
    padding = layer.padding
    if layer.padding_mode != "zeros":
        x = functional.pad(x, layer._reversed_padding_repeated_twice, mode=layer.padding_mode)
        padding = 0
    factors = layer.factors()
    method, rank = layer.form.split()[0], factors[0].shape[0]
    if method == "svd":
        # What the stride leaves out is never computed.
        x = functional.conv2d(x, factors[0], None, layer.stride, padding)
        return functional.conv2d(x, factors[1], layer.bias)
    x = functional.conv2d(x, factors[0])
    if method == "cp4":
        x = _one_direction(x, factors[1], layer, padding, 0)
        x = _one_direction(x, factors[2], layer, padding, 1)
    else:
        x = functional.conv2d(x, factors[1], None, layer.stride, padding, layer.dilation,
                              rank if method == "cp3" else 1)
    return functional.conv2d(x, factors[-1], layer.bias)


def _one_direction(x, factor, layer, padding, dimension):
    """A column (0) or a row (1) of the kernel, for each channel by itself."""
    def along(values, otherwise):
        return values if isinstance(values, str) else tuple(
            value if i == dimension else otherwise for i, value in enumerate(values))
    padding = (0, 0) if padding == 0 else padding
    return functional.conv2d(x, factor, None, along(layer.stride, 1), along(padding, 0),
                             along(layer.dilation, 1), factor.shape[0])


class _Decomposed:
    """What both classes share. `form`: "svd 32", "tucker2 16x24 reconstructed" and so on."""

    @property
    def weight(self):
        """The dense weight that the factors stand for, computed anew; for whoever reads it."""
        return turned(self, _factors.product(self.form, self.factors(), self.matrix_sizes()))

    def factors(self):
        """The factors, in the order in which they are applied."""
        return [getattr(self, name) for name in _factors.names_of(self.form)]

    @property
    def is_reconstructed(self):
        return self.form.endswith(_factors.RECONSTRUCTED)

    def reset_parameters(self):
        raise RuntimeError("a decomposed layer has no dense weight to set anew: lowtide.merge() first")

    def extra_repr(self):
        return f"{super().extra_repr()}, form={self.form}"

    def _load_from_state_dict(self, state_dict, prefix, *arguments):
        """A dense weight is decomposed in this layer's form, and its factors are loaded."""
        dense = prefix + "weight"
        if dense in state_dict:
            factors = dict(zip(_factors.names_of(self.form), self.factors()))
            try:
                factors = self._factorised(dense, turned(self, state_dict.pop(dense)))
            except ValueError as error:
                # Torch gathers these, and loads the rest; these factors stay.
                arguments[-1].append(str(error))
            state_dict.update((prefix + name, factor) for name, factor in factors.items())
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def _factorised(self, name, weight):
        if tuple(weight.shape) != tuple(self.matrix_sizes()):
            raise ValueError(f"{name} is for a layer of the sizes {tuple(weight.shape)}, and this one has "
                             f"{tuple(self.matrix_sizes())}")
        try:
            return _factors.factorise(weight, self.form)[0]
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


class DecomposedLinear(_Decomposed, torch.nn.Linear):
    """A linear layer as two, from the inputs to the rank and from there to the outputs."""
    dense_class = torch.nn.Linear

    def matrix_sizes(self):
        return self.out_features, self.in_features

    def forward(self, input):  # pylint: disable=redefined-builtin
        if self.is_reconstructed:
            return functional.linear(input, self.weight, self.bias)
        into, out = self.factors()
        return functional.linear(functional.linear(input, into), out, self.bias)


class DecomposedConv2d(_Decomposed, torch.nn.Conv2d):
    """A convolution as a chain of smaller ones."""
    dense_class = torch.nn.Conv2d

    def matrix_sizes(self):
        return self.out_channels, self.in_channels, *self.kernel_size

    def forward(self, input):  # pylint: disable=redefined-builtin
        if self.is_reconstructed:
            return self._conv_forward(input, self.weight, self.bias)
        return _chain_of_convolutions(self, input)


class DecomposedConv1D(_Decomposed, torch.nn.Module):
    """Hugging Face's Conv1D (of GPT-2), a linear layer whose weight has the inputs first, as two."""

    @property
    def dense_class(self):
        return sys.modules[_CONV1D[0]].Conv1D

    def matrix_sizes(self):
        return self.nf, self.nx

    def extra_repr(self):
        return f"nf={self.nf}, nx={self.nx}, form={self.form}"

    def forward(self, x):
        if self.is_reconstructed:
            return functional.linear(x, self.weight.t(), self.bias)
        into, out = self.factors()
        return functional.linear(functional.linear(x, into), out, self.bias)


# Its module and name: nobody who does without that library has to import it.
_CONV1D = ("transformers.pytorch_utils", "Conv1D")
DECOMPOSED = (DecomposedLinear, DecomposedConv2d, DecomposedConv1D)


def decomposed_class(kind):
    """What a class of layers becomes; None if such layers are not decomposed. Subclasses may use
    their weight in ways of their own."""
    if (kind.__module__, kind.__name__) == _CONV1D:
        return DecomposedConv1D
    return {torch.nn.Linear: DecomposedLinear, torch.nn.Conv2d: DecomposedConv2d}.get(kind)


def turned(layer, weight):
    """A weight of the layer with the outputs first, and back again."""
    kind = type(layer)
    has_inputs_first = DecomposedConv1D in (kind, decomposed_class(kind))
    return weight.t() if has_inputs_first else weight
