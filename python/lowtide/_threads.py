# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Threads that the program starts are managed as the one that opened the session is; forked
processes are not."""

import functools
import os
import threading

from . import _library, _patching, _session

_patches = _patching.Patches()
_watches_forks = False


def _managed(original):
    @functools.wraps(original)
    def run(self):
        before = _library.library().lowtide_set_thread_managed(1)
        try:
            return original(self)
        finally:
            _library.library().lowtide_set_thread_managed(before)
    return run


def _after_fork():
    if _session.current():
        _library.library().lowtide_after_fork()
        _session.forget()


def _install():
    global _watches_forks
    _patches.replace(threading.Thread, "run", _managed)
    if not _watches_forks:
        os.register_at_fork(after_in_child=_after_fork)
        _watches_forks = True


_session.add_patch(_install, _patches.undo)
