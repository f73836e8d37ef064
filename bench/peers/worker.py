# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A process that takes turns, one after the other: bench/peers/run starts it and reads a line of JSON for each.

Standard input has the job: {"device", "sizes", "plain_peaks", "deadline", "warm_up", "steps", "turns": [[model, mode]]}.
"""

import json
import os
import sys
import time
import traceback
import warnings

import turn as turns
from workloads import make_deterministic


def lines_to_parent():
    """Standard output for us alone: what libraries print goes with the errors."""
    mine = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return mine


def describe_failure(error):
    traceback.print_exc()
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"[:400]


def take(job, model, mode):
    """Returns what the turn found, or why it failed."""
    device, size, peaks = job["device"], job["sizes"][model], job["plain_peaks"]
    try:
        make_deterministic(model, device)
        if device == "cpu" and model not in peaks and mode.startswith("lowtide"):
            peaks[model] = turns.peak_without_counters(model, size)
        turn = turns.Turn(model, mode, size, device, job["warm_up"], job["steps"])
        found = turn.run(peaks.get(model))
    except Exception as error:  # pylint: disable=broad-exception-caught  (a row says what it was)
        return {"failure": describe_failure(error)}
    if mode == "plain" and device == "cuda":
        peaks.setdefault(model, found["allocated_peak_bytes"])
    return found


def main():
    parent = lines_to_parent()
    warnings.filterwarnings("ignore")
    job = json.load(sys.stdin)
    for model, mode in job["turns"]:
        if job["deadline"] and time.time() > job["deadline"]:
            break
        found = take(job, model, mode)
        print(json.dumps(found | {"plain_peak_bytes": job["plain_peaks"].get(model)}), file=parent)
        if "failure" in found:  # It may have left the device in a state that the next turn would suffer from.
            break


if __name__ == "__main__":
    main()
