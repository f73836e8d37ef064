# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Dry runs for the tests of this folder, through the library whose path is in LT_SHIM."""

import contextlib
import ctypes
import gc
import os

import torch

# Torch's own functions for the device `meta`, before ours take their places.
import torch._meta_registrations  # noqa: F401

torch.ops.load_library(os.environ["LT_SHIM"])
# So little work is done sooner by one, above all while other tests run.
torch.set_num_threads(1)

estimate = torch.ops.lowtide_estimate
shim = ctypes.CDLL(os.environ["LT_SHIM"])


@contextlib.contextmanager
def dry_run(gpu=""):
    """As on that GPU, or on the CPU. Nothing is computed within; what was made there must not be kept."""
    shim.lowtide_dry_run_begin(gpu.encode())
    try:
        yield
    finally:
        gc.collect()
        shim.lowtide_dry_run_end()
