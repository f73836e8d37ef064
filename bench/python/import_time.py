#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What `import lowtide` takes beyond `import torch`: median and spread of several processes.

    bench/python/import_time.py --json result.json

with the Python that has the package, or PYTHONPATH=python and LOWTIDE_LIBRARY=.../liblowtide.so. The
first process only warms the disk cache up.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import commit_of, processor  # noqa: E402

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


def summary_of(seconds):
    return {"median_seconds": statistics.median(seconds), "least_seconds": min(seconds),
            "most_seconds": max(seconds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", help="where the result goes, beside the lines")
    arguments = parser.parse_args()
    measure()
    columns = zip(*(measure() for _ in range(arguments.rounds)))
    imports = dict(zip(("torch", "lowtide, beyond torch"), map(summary_of, columns)))
    for name, found in imports.items():
        print(f"import {name}: {found['median_seconds']:.3f} s ({found['least_seconds']:.3f}.."
              f"{found['most_seconds']:.3f}, {arguments.rounds} processes)")
    if arguments.json:
        result = {"machine": processor(), "commit": commit_of(pathlib.Path(__file__).parent),
                  "rounds": arguments.rounds, "imports": imports}
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
