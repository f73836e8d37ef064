# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""safetensors writes all tensors of a file by their addresses at once: it gets copies in numpy's
memory, for which no more than one of them has to be on the device at a time."""

import functools

from . import _patching, _readers, _session

_patches = _patching.Patches()


def _copies(original):
    @functools.wraps(original)
    def to_array(tensor):
        if _readers.is_passing():
            return original(tensor)
        with _readers.nothing_is_kept(), _session.hold(tensor):
            array, owner = original(tensor)
            # What it makes of a tensor on a GPU is a copy already.
            return (array.copy() if owner is tensor else array), owner
    return to_array


def _reads(original):
    @functools.wraps(original)
    def to_bytes(tensor, *arguments):
        if _readers.is_passing():
            return original(tensor, *arguments)
        with _readers.nothing_is_kept(), _session.hold(tensor):
            return original(tensor, *arguments)
    return to_bytes


def _wrap(module):
    # Newer versions have the one, older ones the other.
    for name, make in (("_to_ndarray", _copies), ("_tobytes", _reads)):
        if hasattr(module, name):
            _patches.replace(module, name, make)


def _install():
    _patches.when_imported("safetensors.torch", _wrap)


_session.add_patch(_install, _patches.undo)
