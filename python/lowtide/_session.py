# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Open sessions, one inside the other, and what is changed in torch while there is any."""

import contextlib
import ctypes
import json
import os
import threading

import torch

from . import _library, _names, _report

# The innermost one last.
_open_sessions = []
# Sessions are opened and closed by one thread at a time.
_lock = threading.RLock()
# What is done when the first session opens and when the last one closes: (install, remove).
_patches = []
# Called with the session after each of its steps.
_observers = []
# The statistics of the session that was closed last.
_last_stats = {}


def add_patch(install, remove):
    """Has `install` called whenever a first session opens, and `remove` when the last closes."""
    _patches.append((install, remove))


def add_observer(observer):
    _observers.append(observer)


def remove_observer(observer):
    _observers.remove(observer)


def current():
    """The innermost session; None if there is none."""
    return _open_sessions[-1] if _open_sessions else None


def heir_of(session):
    """Who releases what this session holds: itself, or one that was open with it if it has ended. Holds
    belong to the device, and are forgotten when nobody is left."""
    if session is None or session.is_open:
        return session
    innermost = current()
    return innermost if innermost and innermost.life is session.life else None


def _plain_option(value):
    """Devices and paths as the texts that they stand for."""
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"an option cannot be a {type(value).__name__}: {value!r}")


def _require_tensors(values):
    for value in values:
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"hold() takes tensors, as in hold(weight, bias) or hold(*module.parameters()), "
                            f"not a {type(value).__name__}")


class Session:
    """A budget over one device, until close(). Options: see lowtide.budget."""

    def __init__(self, *, report=False, **options):
        if options.get("device") is None:
            _library.refuse_to_overlook_gpus()
        if not isinstance(report, bool):
            raise TypeError(f"report is True or False, not {report!r}: lowtide.last_report().save(path) "
                            "writes one afterwards")
        text = json.dumps({name: value for name, value in options.items() if value is not None},
                          default=_plain_option)
        self.thread = threading.get_ident()
        self._is_reported = self._is_to_be_named = report
        self._is_remembered = True
        with _lock:
            self._open(text)

    def _open(self, text):
        pointer = ctypes.c_void_p()
        _library.call("lowtide_open", text.encode(), ctypes.byref(pointer))
        self._pointer = pointer
        if self._is_reported:
            self.capture_next_step()
        if not _open_sessions:
            self._install_patches()
        # The same for all that are open at a time.
        self.life = _open_sessions[0].life if _open_sessions else object()
        _open_sessions.append(self)

    def _install_patches(self):
        installed = []
        try:
            for install, remove in _patches:
                # First, since it may have done a part of it when it fails.
                installed.append(remove)
                install()
        except BaseException:
            for remove in reversed(installed):
                remove()
            pointer, self._pointer = self._pointer, None
            _library.call("lowtide_close", pointer)
            raise

    def close(self):
        """Brings everything back and ends the budget; those that were opened after it go on. Does
        nothing the second time."""
        if self._pointer is not None:
            with _lock:
                self._close()

    def _close(self):
        if self._is_remembered:
            _last_stats.clear()
            _last_stats.update(self.stats())
            if self._is_reported:
                _report.remember(self)
        _open_sessions.remove(self)
        if not _open_sessions:
            for _, remove in reversed(_patches):
                remove()
        pointer, self._pointer = self._pointer, None
        _library.call("lowtide_close", pointer)

    @property
    def is_open(self):
        return self._pointer is not None

    def leave_account_to(self, other):
        """When both have ended, only what the other one did is remembered."""
        self._is_remembered = False
        other.reset_peaks()

    def forget(self):
        """In a forked process: the session is the parent's, and there is nothing to close."""
        self._pointer = None

    def _call(self, name, *arguments):
        if self._pointer is None:
            raise _library.Error("this session is closed")
        _library.call(name, self._pointer, *arguments)

    def end_step(self, failed=False):
        """Tells where a training step ends. Optimizers do that by themselves."""
        if self._is_to_be_named:
            # Before the step that is written down.
            self._is_to_be_named = False
            _names.name_models(self)
        self._call("lowtide_end_step", int(failed))
        for observer in () if failed else list(_observers):
            observer(self)

    def hold(self, tensor):
        """Brings a tensor back and keeps it on the device until release() is called as often."""
        self._call("lowtide_hold_tensor", tensor._cdata)

    def release(self, tensor):
        self._call("lowtide_release_tensor", tensor._cdata)

    def hold_storage(self, storage):
        self._call("lowtide_hold_storage", storage._cdata)

    def release_storage(self, storage):
        self._call("lowtide_release_storage", storage._cdata)

    @contextlib.contextmanager
    def opaque(self, tensors=()):
        """While code runs that goes around torch's dispatcher: `tensors`, and what ops use or make
        meanwhile, stay on the device."""
        held = []
        self._call("lowtide_begin_opaque")
        try:
            for tensor in tensors:
                self.hold(tensor)
                held.append(tensor)
            yield
        finally:
            session = heir_of(self)
            for tensor in held if session else ():
                session.release(tensor)
            if session:
                session._call("lowtide_end_opaque")

    def name(self, tensor, name, layer=""):
        """What captured steps and reports call the tensor, and the layer that it belongs to."""
        self._call("lowtide_name", tensor._cdata, name.encode(), layer.encode())

    def name_parameters(self, module):
        """Names all parameters and buffers of a module."""
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            self.name(tensor, name, name.rpartition(".")[0])

    def stats(self):
        """What was done so far, by the names of C++'s SessionStats."""
        if self._pointer is None:
            raise _library.Error("this session is closed")
        return json.loads(_library.text_of("lowtide_stats", self._pointer))

    def reset_peaks(self):
        self._call("lowtide_reset_peaks")

    def capture_next_step(self):
        self._call("lowtide_capture_next_step")

    def captured(self, name="captured"):
        """The captured step as the text of a trace file."""
        return _library.text_of("lowtide_captured", self._pointer, name.encode())

    def run_record(self, title):
        """The captured step and what was done with it, for reports."""
        return _library.text_of("lowtide_run_record", self._pointer, title.encode())


def forget():
    """In a forked process: the sessions are the parent's."""
    global _lock
    # Another thread of the parent's may have been in there.
    _lock = threading.RLock()
    for session in _open_sessions:
        session.forget()
    _open_sessions.clear()
    for _, remove in reversed(_patches):
        remove()


def bytes_of(size, options):
    """How many bytes a size such as "8GiB" is."""
    session = Session(budget=size, device=options.get("device"))
    try:
        return session.stats()["budget_bytes"]
    finally:
        session.close()


def memory_stats():
    """What the innermost session did so far; without one, what the last session did."""
    session = current()
    return session.stats() if session else dict(_last_stats)


@contextlib.contextmanager
def hold(*tensors):
    """Keeps tensors on the device while their addresses are used: `with lowtide.hold(weight):`."""
    _require_tensors(tensors)
    session = current()
    held = []
    try:
        for tensor in tensors if session else ():
            session.hold(tensor)
            held.append(tensor)
        yield
    finally:
        session = heir_of(session)
        for tensor in held if session else ():
            session.release(tensor)


@contextlib.contextmanager
def opaque(tensors):
    """See Session; does nothing where there is no session."""
    session = current()
    with session.opaque(tensors) if session else contextlib.nullcontext():
        yield


def end_step():
    """Tells the innermost session that a step ends, for loops without an optimizer of torch."""
    session = current()
    if session:
        session.end_step()
