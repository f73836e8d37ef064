# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Sessions for the tests of this folder, through the library whose path is in LT_SHIM."""

import ctypes
import functools
import os

import torch

RECOMPUTE, HOST, MIXED = range(3)
READS, WRITES, HIDDEN_WRITE = range(3)

COUNTS = ("ops", "drops", "moves", "recomputes", "records", "kept_unsafe")


@functools.cache
def shim():
    """The library, loaded as users load one with operators of their own."""
    path = os.environ["LT_SHIM"]
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.lowtide_shim_error.restype = ctypes.c_char_p
    library.lowtide_shim_open.restype = ctypes.c_void_p
    library.lowtide_shim_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
                                          ctypes.c_int64]
    library.lowtide_shim_close.restype = None
    library.lowtide_shim_close.argtypes = [ctypes.c_void_p]
    library.lowtide_shim_end_step.restype = ctypes.c_int64
    library.lowtide_shim_end_step.argtypes = [ctypes.c_void_p]
    library.lowtide_shim_stats.restype = ctypes.c_int64
    library.lowtide_shim_stats.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)]
    library.lowtide_shim_effect.restype = ctypes.c_int64
    library.lowtide_shim_effect.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
    return library


def checked(result):
    """`result` of a function of the library; raises if it says that the function failed."""
    if result is None or result == -1:
        raise RuntimeError(shim().lowtide_shim_error().decode())
    return result


def effect(op, overload, argument):
    """What the runtime believes that an operator does to one of its arguments."""
    return checked(shim().lowtide_shim_effect(op.encode(), overload.encode(), argument))


class Session:
    """A session that evicts whatever an op used as soon as the op is done; for `with`."""

    def __init__(self, means, *, budget="", evict_everything=True, floor_bytes=0):
        self._options = (budget.encode(), means, int(evict_everything), floor_bytes)
        self._handle = None

    def __enter__(self):
        self._handle = checked(shim().lowtide_shim_open(*self._options))
        return self

    def __exit__(self, *_):
        shim().lowtide_shim_close(self._handle)
        self._handle = None

    def end_step(self):
        checked(shim().lowtide_shim_end_step(self._handle))

    def stats(self):
        counts = (ctypes.c_int64 * len(COUNTS))()
        checked(shim().lowtide_shim_stats(self._handle, counts))
        return dict(zip(COUNTS, counts))
