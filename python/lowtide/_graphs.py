# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A CUDA graph keeps the addresses of what it used when it was captured: that stays where it is."""

import functools

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import _library, _patching, _readers, _session

_patches = _patching.Patches()


class _HoldsWhatIsUsed(TorchDispatchMode):
    """Nobody says when a graph is not replayed any more: so it is for the storages' lives."""

    def __init__(self, session):
        super().__init__()
        self._session = session

    def _hold(self, values):
        for value in pytree.tree_leaves(values):
            if isinstance(value, torch.Tensor):
                self._session.hold(value)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self._hold((args, kwargs))
        result = func(*args, **(kwargs or {}))
        self._hold(result)
        return result


def _begins(original):
    @functools.wraps(original)
    def capture_begin(self, *arguments, **options):
        # torch.compile looks after the addresses of its graphs by itself.
        if _readers.is_passing():
            original(self, *arguments, **options)
            return
        # What is brought back while a graph is captured would be so by the graph.
        _library.call("lowtide_bring_all_back")
        original(self, *arguments, **options)
        self._lowtide_mode = _HoldsWhatIsUsed(_session.current())
        self._lowtide_mode.__enter__()
    return capture_begin


def _ends(original):
    @functools.wraps(original)
    def capture_end(self):
        mode = self.__dict__.pop("_lowtide_mode", None)
        if mode is not None:
            mode.__exit__(None, None, None)
        original(self)
    return capture_end


def _install():
    _patches.replace(torch.cuda.CUDAGraph, "capture_begin", _begins)
    _patches.replace(torch.cuda.CUDAGraph, "capture_end", _ends)


_session.add_patch(_install, _patches.undo)
