# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""LOWTIDE_BUDGET=8GiB in the environment of a Python: its training runs inside that budget.

lowtide_autostart.pth has this imported when Python starts and the variable is there. Nothing happens
before torch is imported and a first module is built, so a launcher of trainings is left alone; so
are processes that a training starts, such as those of data loaders.
"""

import atexit
import functools
import importlib.util
import multiprocessing
import os
import pathlib
import sys

# Besides LOWTIDE_BUDGET.
OPTIONS = ("device", "means", "policy", "host_cap", "spill_dir", "spill_cap")


def _patching():
    """The module of that name, without the package, which would import torch."""
    path = pathlib.Path(__file__).parent / "lowtide" / "_patching.py"
    spec = importlib.util.spec_from_file_location("lowtide_patching", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _enable():
    import lowtide
    from lowtide import _launch
    options = {name: os.environ[f"LOWTIDE_{name.upper()}"] for name in OPTIONS
               if f"LOWTIDE_{name.upper()}" in os.environ}
    options.setdefault("device", _launch.default_device())
    try:
        lowtide.enable(os.environ["LOWTIDE_BUDGET"], **options)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"{_launch.prefix()}: {error}")
    atexit.register(lowtide.disable)


def _before_first_module(torch):
    original = torch.nn.Module.__init__

    @functools.wraps(original)
    def build(self, *arguments, **options):
        torch.nn.Module.__init__ = original
        _enable()
        return original(self, *arguments, **options)

    torch.nn.Module.__init__ = build


if "LOWTIDE_BUDGET" not in os.environ:
    raise ImportError("lowtide_autostart is for processes with LOWTIDE_BUDGET in their environment")
if multiprocessing.parent_process() is None:
    _patching().after_import("torch", _before_first_module)
