# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A training step ends when an optimizer has made its step."""

import threading

from torch.optim import optimizer as _optimizer

from . import _session

_handles = []


def _after_step(*_):
    session = _session.current()
    # Another thread's training is in the middle of a step of ours, or has nothing to do with us.
    if session is None or session.thread != threading.get_ident():
        return
    session.end_step()


def _install():
    _handles.append(_optimizer.register_optimizer_step_post_hook(_after_step))


def _remove():
    while _handles:
        _handles.pop().remove()


_session.add_patch(_install, _remove)
