#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What `import lowtide` takes beyond `import torch`: median and spread of several processes.

usage: bench/python/import_time.py [ROUNDS]
with the Python that has the package, or PYTHONPATH=python and LOWTIDE_LIBRARY=.../liblowtide.so. The
first process only warms the disk cache up.
"""

import statistics
import subprocess
import sys

ASK = """
import time
start = time.perf_counter()
import torch
between = time.perf_counter()
import lowtide
print(between - start, time.perf_counter() - between)
"""


def measure():
    """Seconds of torch's import, and of ours after it, in a process of their own."""
    result = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    return [float(seconds) for seconds in result.stdout.split()]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    measure()
    for name, seconds in zip(("torch", "lowtide, beyond torch"),
                             zip(*(measure() for _ in range(rounds)))):
        print(f"import {name}: {statistics.median(seconds):.3f} s "
              f"({min(seconds):.3f}..{max(seconds):.3f}, {rounds} processes)")


if __name__ == "__main__":
    main()
