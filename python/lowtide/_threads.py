# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Threads that the program starts are managed as the one that opened the session is, and so is what
executors have their threads do; forked processes are not."""

import concurrent.futures.thread
import functools
import os
import threading

from . import _library, _patching, _session

_patches = _patching.Patches()
_watches_forks = False


def _managed(original):
    @functools.wraps(original)
    def run(self, *arguments):
        before = _library.library().lowtide_set_thread_managed(1)
        try:
            return original(self, *arguments)
        finally:
            _library.library().lowtide_set_thread_managed(before)
    return run


def _after_fork():
    if _session.current():
        _library.library().lowtide_after_fork()
        _session.forget()


def _install():
    global _watches_forks
    # Not run(), which subclasses have their own of; each thread comes by here.
    _patches.replace(threading.Thread, "_bootstrap_inner", _managed)
    # An executor's threads may be older than the session.
    _patches.replace(concurrent.futures.thread._WorkItem, "run", _managed)
    if not _watches_forks:
        os.register_at_fork(after_in_child=_after_fork)
        _watches_forks = True


_session.add_patch(_install, _patches.undo)
