# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""torch's own operator list with its sample inputs, copies of them, and what to compare."""

import itertools
import os
import random
import warnings

import numpy
import torch
from torch.utils._pytree import tree_flatten, tree_map

DEFAULT_SAMPLES = 16
# More go deeper; with fewer, what the tables say would not all be seen.
SAMPLES = max(DEFAULT_SAMPLES, int(os.environ.get("LT_SWEEP_SAMPLES", "0")))
SEED = 1

# The first samples of an op tend to be alike, so some are left out in between.
STRIDE = 4


def seed():
    torch.manual_seed(SEED)
    numpy.random.seed(SEED)
    random.seed(SEED)


def operators():
    """The ops of the list that the processor knows, by full name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    named = {}
    for op in op_db:
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if op.supported_dtypes("cpu"):
            named.setdefault(name, op)
    return named


def dtype_of(op):
    dtypes = op.supported_dtypes("cpu")
    return torch.float32 if torch.float32 in dtypes else min(dtypes, key=str)


def is_differentiable(op):
    dtype = dtype_of(op)
    return (op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
            and (dtype.is_floating_point or dtype.is_complex))


def samples_of(op):
    """A few (arguments, keywords) of the op, the same in every run."""
    seed()
    inputs = op.sample_inputs("cpu", dtype_of(op), requires_grad=is_differentiable(op))
    first = list(itertools.islice(inputs, SAMPLES * STRIDE))
    count = min(SAMPLES, len(first))
    for i in range(count):
        sample = first[i * len(first) // count]
        yield (sample.input, *sample.args), sample.kwargs


def is_plain(tensor):
    """A tensor with a storage of its own on the processor, as nearly all are."""
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout == torch.strided
            and tensor.device.type == "cpu" and not tensor.is_quantized and not tensor.is_nested)


def copied(tree):
    """The tree with copies for its tensors, which keep geometry, bits for autograd, and which tensors
    share a storage. The copies are made by ops, so that a session knows how to make them again."""
    storages = {}

    def copy(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        with torch.no_grad():
            if is_plain(leaf) and not leaf.is_conj() and not leaf.is_neg():
                storage = leaf.untyped_storage()
                key = (storage._cdata, leaf.dtype)
                if key not in storages:
                    flat = torch.empty(0, dtype=leaf.dtype).set_(
                        storage, 0, (storage.nbytes() // leaf.itemsize,), (1,))
                    storages[key] = flat.clone()
                made = storages[key].as_strided(leaf.size(), leaf.stride(), leaf.storage_offset())
                made = made.detach()
            else:
                made = leaf.detach().clone()
        return made.requires_grad_(leaf.requires_grad)

    return tree_map(copy, tree)


def tensors_in(tree):
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


def bits_of(leaf, *, with_contents=True):
    """Everything that can be seen of a result, for a comparison bit by bit."""
    if not isinstance(leaf, torch.Tensor):
        return repr(leaf)
    tensor = leaf.detach()
    head = (str(tensor.dtype), str(tensor.layout), tuple(tensor.shape))
    if tensor.layout == torch.sparse_coo:
        return head, bits_of(tensor._indices()), bits_of(tensor._values())
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return (head, bits_of(tensor.crow_indices()), bits_of(tensor.col_indices()),
                bits_of(tensor.values()))
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return (head, bits_of(tensor.ccol_indices()), bits_of(tensor.row_indices()),
                bits_of(tensor.values()))
    if tensor.is_nested:
        return head[:2], [bits_of(part) for part in tensor.unbind()]
    head += (tensor.stride(),)
    if not with_contents:
        return head
    plain = torch.empty(tensor.numel(), dtype=tensor.dtype).copy_(tensor.reshape(-1))
    return head, plain.view(torch.uint8).numpy().tobytes()


def bits_in(tree, **options):
    return [bits_of(leaf, **options) for leaf in tree_flatten(tree)[0]]
