# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The zoo's models for the tests of this folder, through the library whose path is in LT_SHIM."""

import os

import torch

torch.ops.load_library(os.environ["LT_SHIM"])
# So little work is done sooner by one, above all while other tests run.
torch.set_num_threads(1)

zoo = torch.ops.lowtide_zoo


def difference(ours, theirs):
    """The largest difference of two tensors, over the largest entry of theirs."""
    largest = theirs.abs().max().item()
    distance = (ours - theirs).abs().max().item()
    return distance / largest if largest > 0 else distance
