# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""torch's profiler asks for the addresses of all tensors that ops and modules use where it is to
tell shapes or stacks. For what is away it loses ops with a warning for each, or ends the process:
while a budget is in force it goes without them."""

import functools
import gc
import warnings

import torch

from . import _library, _patching, _session

_patches = _patching.Patches()
_BY_ADDRESS = ("record_shapes", "with_flops", "with_stack")


def _asked_for(profile):
    return [name for name in _BY_ADDRESS if getattr(profile, name, False)]


def _configures(original):
    @functools.wraps(original)
    def config(self, *arguments, **options):
        asked = _asked_for(self)
        if asked:
            warnings.warn(f"lowtide: within a budget, the profiler goes without {', '.join(asked)}: it "
                          "would read the addresses of tensors that are not on the device",
                          stacklevel=4)
        for name in asked:
            setattr(self, name, False)
        return original(self, *arguments, **options)
    return config


def _under_way():
    """Those that were started and have no results yet."""
    if not torch.autograd._profiler_enabled():
        return []
    return [entry for entry in gc.get_objects()
            if issubclass(type(entry), torch.autograd.profiler.profile)
            and entry.entered and entry.kineto_results is None]


def _refuse_those_under_way():
    for profile in _under_way():
        if asked := _asked_for(profile):
            raise _library.Error(
                f"a profiler with {', '.join(asked)} is under way, which reads the addresses of tensors "
                "that are not on the device: start it within the budget, where it does without them")


def _install():
    _refuse_those_under_way()
    _patches.replace(torch.autograd.profiler.profile, "config", _configures)


_session.add_patch(_install, _patches.undo)
