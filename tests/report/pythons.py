# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What tests of the report need: a Python with a package, a browser, a record; a machine may lack the former two."""

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

MIB = 1 << 20


def machine_of(name, size):
    """Any unit does: its tier takes and gives `size` bytes a second."""
    tier = {"name": name, "capacity_bytes": 99 * size, "write_bytes_per_second": size, "read_bytes_per_second": size}
    return {"format": "lowtide-machine", "version": 1, "name": name, "device_bytes": 99 * size, "tiers": [tier],
            "flops_per_second": 1, "memory_bytes_per_second": 1}


def online_run():
    """The record of eight layers and their backward pass, a second each, under the online rule: all that it can do."""
    storages = [{"name": name, "bytes": MIB, "kind": kind, "start": stays, "end": stays}
                for name, kind, stays in [("w", "parameter", True), ("x", "input", True), ("g", "gradient", False),
                                          *((f"a{i}", "activation", False) for i in range(8))]]
    ops = [{"name": f"f{i}", "phase": "forward", "reads": [2 + i] if i else [0, 1], "writes": [3 + i]}
           for i in range(8)]
    ops += [{"name": f"b{i}", "phase": "backward", "reads": [3 + i], "writes": [2]} for i in reversed(range(8))]
    step = {"format": "lowtide-trace", "version": 1, "name": "eight", "storages": storages,
            "ops": [{**op, "device_seconds": 1, "layer": "layer." + op["name"][1:]} for op in ops]}
    deeds = [{"do": "move", "storage": 4, "op": 5, "unused_seconds": 3, "drop_seconds": 7, "move_seconds": 2},
             {"do": "drop", "storage": 5, "op": 6, "unused_seconds": 4, "drop_seconds": 1},
             {"do": "move", "storage": 6, "op": 6}, {"do": "fetch", "storage": 6, "op": 12},
             {"do": "replay", "storage": 5, "op": 13, "seconds": 1}, {"do": "fetch", "storage": 4, "op": 14}]
    return {"format": "lowtide-run", "version": 1, "title": "eight layers", "device": "cuda:0", "policy": "online",
            "budget_bytes": 8 * MIB + MIB // 2, "trace": step, "machine": machine_of("host", MIB), "plan": None,
            "online": deeds, "statistics": {"steps": 3}, "step_seconds": [18, 17, 19]}
