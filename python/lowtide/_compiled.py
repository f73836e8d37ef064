# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Graphs of torch.compile use their tensors by address. While one runs, what it takes and makes
stays on the device; between two of them, what it took and gave is managed as anything else."""

import contextlib
import functools

import torch

from . import _library, _patching, _readers, _session

_patches = _patching.Patches()


def _tensors(values):
    return [value for value in values if isinstance(value, torch.Tensor)]


@contextlib.contextmanager
def _out_of_memory_is_torchs(inputs):
    """Graphs allocate without an op: what does not fit reaches Python as an error of no kind."""
    try:
        yield
    except RuntimeError as error:
        if type(error) is not RuntimeError or not str(error).startswith("out of memory. "):
            raise
        is_gpu = any(tensor.is_cuda for tensor in inputs)
        words = _library.OUT_OF_MEMORY_ON_A_GPU if is_gpu else _library.OUT_OF_MEMORY_ON_THE_CPU
        raise torch.OutOfMemoryError(f"{words}Lowtide: {error}") from error


def _runs_opaquely(original):
    @functools.wraps(original)
    def call(self, inputs):
        session = _session.current()
        if session is None:
            return original(self, inputs)
        # The graph empties the list.
        tensors = _tensors(inputs)
        with _out_of_memory_is_torchs(tensors), session.opaque(tensors), _readers.nothing_is_kept():
            outputs = original(self, inputs)
        # No op has shown these yet.
        for tensor in _tensors(outputs if isinstance(outputs, (tuple, list)) else ()):
            with _session.hold(tensor):
                pass
        return outputs
    return call


def _wrap(module):
    _patches.replace(module.CompiledFxGraph, "__call__", _runs_opaquely)


def _install():
    _patches.when_imported("torch._inductor.output_code", _wrap)


_session.add_patch(_install, _patches.undo)
