# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Name a memory budget, and your model trains inside it, bit for bit as it would without.

    import lowtide

    with lowtide.budget("8GiB"):
        train()
"""

from . import _library

_library.library()

# Each adds its patches.
from . import (_compiled, _distributed, _graphs, _profiler, _readers, _safetensors,  # noqa: E402
               _steps, _threads)
from ._budget import budget, disable, enable  # noqa: E402
from ._decompose import (DecompositionReport, LayerReport, decompose,  # noqa: E402
                         load_decomposed, merge)
from ._library import DeviceError, Error  # noqa: E402
from ._measuring import LargestBatches, Trace, Verdict, max_batch, trace, verify  # noqa: E402
from ._report import Report, last_report  # noqa: E402
from ._session import Session, end_step, hold, memory_stats  # noqa: E402

__version__ = _library.library().lowtide_version().decode()

__all__ = ["DecompositionReport", "DeviceError", "Error", "LargestBatches", "LayerReport", "Report",
           "Session", "Trace", "Verdict", "budget", "decompose", "disable", "enable", "end_step",
           "hold", "last_report", "load_decomposed", "max_batch", "memory_stats", "merge", "trace",
           "verify"]
