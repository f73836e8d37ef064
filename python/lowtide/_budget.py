# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Budgets for a block, a function, or from here on."""

import contextlib
import inspect
import math

from . import _session

# More than there is anywhere.
_MOST_BYTES = 1 << 60
# A step may make its optimizer's states, so that it takes two to see what one takes.
MEASURED_STEPS = 2


def share_of(budget):
    """0.6 of "60%"; None for a size."""
    if not isinstance(budget, str) or not budget.strip().endswith("%"):
        return None
    try:
        share = float(budget.strip()[:-1]) / 100
    except ValueError:
        share = 0
    if not 0 < share < math.inf:
        raise ValueError(f"a budget is a size (8GiB) or a share of the plain peak (60%), not "
                         f"{budget!r}")
    return share


def size_of(budget):
    """What the library takes for a size: a number counts bytes."""
    if isinstance(budget, bool) or not isinstance(budget, (str, int)):
        raise TypeError(f"a budget is a size such as '8GiB', a share such as '60%' or a number of "
                        f"bytes, not {budget!r}")
    if budget == "":
        raise ValueError("a budget is a size such as '8GiB' or a share such as '60%', not nothing")
    return budget if isinstance(budget, str) else f"{budget}B"


class _Measured:
    """A budget that is a share of what plain training takes: the first steps are plain, and only
    measured; from then on the budget holds."""

    def __init__(self, share, options):
        self._share = share
        self._options = options
        self._steps = 0
        # It sees all ops: the budget may be less than what is there already, which then has to go.
        self._measuring = _session.Session(**options | {"step_aside": False})
        self.session = self._measuring
        _session.add_observer(self._after_step)

    def _after_step(self, session):
        # What it opens will be the innermost.
        if session is not self.session or session is not _session.current():
            return
        self._steps += 1
        if self._steps < MEASURED_STEPS:
            return
        _session.remove_observer(self._after_step)
        peak = session.stats()["peak_bytes"]
        size = min(max(1, int(peak * self._share)), _MOST_BYTES)
        self.session = _session.Session(budget=f"{size}B", **self._options)
        self._measuring.leave_account_to(self.session)

    def close(self):
        with contextlib.suppress(ValueError):
            _session.remove_observer(self._after_step)
        self.session.close()
        self._measuring.close()


class _Fixed:
    def __init__(self, budget, options):
        self.session = _session.Session(budget=budget, **options)

    def close(self):
        self.session.close()


def _open(budget, options):
    share = share_of(budget)
    return _Fixed(size_of(budget), options) if share is None else _Measured(share, options)


class budget(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """Keeps torch's memory on a device inside a budget, bit for bit as it would be without.

        with lowtide.budget("8GiB"):
            train()

    or as a decorator, @lowtide.budget("8GiB"). The budget is a size ("8GiB", "600MB", a number of
    bytes), or a share of what plain training takes ("60%"): then two steps are plain and measured,
    and the budget holds from the third on. Budgets nest; the innermost counts.

    Options: device ("cpu", "cuda:1"; the first GPU, else the CPU), means ("recompute", "host",
    "mixed"), policy, policy_options, host_cap, spill_dir, spill_cap, and the others of C++'s
    SessionOptions; report=True has the second step written down for lowtide.last_report().
    """

    def __init__(self, budget, **options):  # pylint: disable=redefined-outer-name
        share_of(budget)
        size_of(budget)
        self._budget = budget
        self._options = options
        self._opened = None

    def __call__(self, function):
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or (
                inspect.isasyncgenfunction(function)):
            # Calling it only makes an object, and what it does comes after the budget's end.
            raise TypeError(f"{function.__name__}() is a generator or a coroutine, whose work is done after "
                            "it was called: say `with lowtide.budget(...):` inside it")
        return super().__call__(function)

    def _recreate_cm(self):
        return type(self)(self._budget, **self._options)

    def __enter__(self):
        if self._opened is not None:
            raise RuntimeError("this budget is in force already: make another with lowtide.budget")
        self._opened = _open(self._budget, self._options)
        return self

    def __exit__(self, kind, *_):
        if self._opened is None:
            raise RuntimeError("the budget is not in force")
        opened, self._opened = self._opened, None
        # In a forked process there is none, and the step of one inside goes on.
        if kind is not None and opened.session is _session.current():
            opened.session.end_step(failed=True)
        opened.close()
        return False

    @property
    def session(self):
        """The session behind it; for a share of the plain peak another one after two steps."""
        if self._opened is None:
            raise RuntimeError("the budget is not in force")
        return self._opened.session

    def stats(self):
        """What was done so far."""
        return self.session.stats()


_enabled = []


def enable(budget, **options):  # pylint: disable=redefined-outer-name
    """A budget from here on, until disable() or the end of the program."""
    opened = globals()["budget"](budget, **options)
    opened.__enter__()
    _enabled.append(opened)
    return opened


def disable():
    """Ends the budget that enable() began last."""
    if not _enabled:
        raise RuntimeError("lowtide.disable() without lowtide.enable()")
    _enabled.pop().__exit__(None, None, None)
