# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What a session did, as a page to look at and as a record that `lowtide report` reads."""

import ctypes
import os
import pathlib
import sys

from . import _library

_last = []


class NoReport(RuntimeError):
    """Nothing was written down."""


class Report:
    """The report of one session."""

    def __init__(self, record):
        self._record = record

    @property
    def json(self):
        """The run's record: `lowtide report` makes the same page of it, and other exports."""
        return self._record

    def html(self, think_seconds=5.0):
        """One page, with nothing else to load. It compares with other plans for so long."""
        pointer = ctypes.c_void_p()
        _library.call("lowtide_report_page", self._record.encode(), think_seconds,
                      ctypes.byref(pointer))
        return _library.take_text(pointer)

    def save(self, path):
        """Writes the page, or with a name that ends in .json the record."""
        path = pathlib.Path(path)
        path.write_text(self._record if path.suffix == ".json" else self.html(), encoding="utf-8")


def remember(session):
    """Keeps the report of a session that ends, if a step of it was captured."""
    title = os.path.basename(sys.argv[0]) or "python"
    try:
        _last[:] = [Report(session.run_record(title))]
    except ValueError:
        # It had no second step.
        _last.clear()


def last_report():
    """The report of the last budget with report=True that has ended and had two steps or more."""
    if not _last:
        raise NoReport("there is no report: pass report=True to lowtide.budget, and train two steps "
                       "or more inside it")
    return _last[0]
