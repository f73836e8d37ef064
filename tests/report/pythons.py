# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Finds what tests of the report need and a machine may lack: a Python with a package, a browser."""

import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import DOES_NOT_FIT, FAILED, USAGE, ProgramTest  # noqa: E402,F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "data" / "traces"


def python_with(package):
    """This Python, or that of .venv, if it can import the package; else None."""
    for python in (sys.executable, str(ROOT / ".venv" / "bin" / "python")):
        ask = f"import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is None)"
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", ask], check=False).returncode == 0:
            return python
    return None


def browser():
    """Debian's chromium, or None."""
    return shutil.which("chromium")


# Leaves a title, a string of a script or an attribute, runs something and has a browser fetch something.
HOSTILE = "</title></script><img src=http://127.0.0.1:9/x onerror=alert(1)><script>alert(2)</script>\"'`${1}&lt;"
# The same as far as names in a trace may go: they are words.
HOSTILE_WORD = "</script><script>alert(3)</script><img/src/onerror>'`${1}&lt;"
