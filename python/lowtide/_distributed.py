# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""DistributedDataParallel asks gradients and its buckets for their addresses, in C++: they stay."""

import contextlib
import functools
import weakref

from torch.nn.parallel import DistributedDataParallel

from . import _library, _patching, _session

_patches = _patching.Patches()
# Those whose gradients stay, and the hooks that see to that.
_watched = weakref.WeakSet()
_handles = []


@contextlib.contextmanager
def _what_is_made_stays():
    before = _library.library().lowtide_keep_what_is_made(1)
    try:
        yield
    finally:
        _library.library().lowtide_keep_what_is_made(before)


def _keep_gradient(parameter):
    session = _session.current()
    if session is not None and parameter.grad is not None:
        session.hold(parameter.grad)


def _watch(parallel):
    if parallel in _watched:
        return
    _watched.add(parallel)
    for parameter in parallel.module.parameters():
        if parameter.requires_grad:
            # It comes before the hooks by which gradients get into buckets.
            _handles.append(parameter.register_post_accumulate_grad_hook(_keep_gradient))


def _builds(original):
    @functools.wraps(original)
    def build(self, *arguments, **options):
        with _what_is_made_stays():
            original(self, *arguments, **options)
    return build


def _rebuilds_buckets(original):
    @functools.wraps(original)
    def before_forward(self, *arguments, **options):
        _watch(self)
        with _what_is_made_stays():
            return original(self, *arguments, **options)
    return before_forward


def _install():
    _patches.replace(DistributedDataParallel, "__init__", _builds)
    _patches.replace(DistributedDataParallel, "_pre_forward", _rebuilds_buckets)


def _remove():
    _patches.undo()
    for handle in _handles:
        handle.remove()
    _handles.clear()
    _watched.clear()


_session.add_patch(_install, _remove)
