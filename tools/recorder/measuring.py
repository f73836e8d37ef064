# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Time and memory of a plain step, which nothing watches."""

import dataclasses
import statistics
import time

import torch

from recorder.training import Task


@dataclasses.dataclass
class Plain:
    """The step without any watcher. Bytes are torch's own figures, zero on the CPU."""
    step_seconds: float  # median, and the fastest and slowest of the repeats
    fastest_seconds: float
    slowest_seconds: float
    return_seconds: float  # until the host had issued the step; it may have waited for a full launch queue
    issue_seconds: float = 0.0  # the same with a batch so small that no queue fills
    allocated_bytes: int = 0
    requested_bytes: int = 0
    start_bytes: int = 0

    def host_seconds(self, device_seconds: float) -> float:
        """The host's own work in a step. If it took longer than the device worked, it hardly waited for the device."""
        if self.return_seconds > device_seconds:
            return self.return_seconds
        return min(self.return_seconds, self.issue_seconds)


def measure_plain(task: Task, repeats: int) -> Plain:
    seconds, return_seconds = [], []
    for _ in range(repeats):
        task.synchronize()
        begin = time.perf_counter()
        task.step()
        return_seconds.append(time.perf_counter() - begin)
        task.synchronize()
        seconds.append(time.perf_counter() - begin)
    plain = Plain(statistics.median(seconds), min(seconds), max(seconds), statistics.median(return_seconds))
    if task.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        plain.start_bytes = torch.cuda.memory_allocated()
        task.step()
        stats = torch.cuda.memory_stats()
        plain.allocated_bytes = stats["allocated_bytes.all.peak"]
        plain.requested_bytes = stats["requested_bytes.all.peak"]
    return plain


def measure_issue(task: Task, plain: Plain) -> None:
    # The host's work hardly depends on the batch. The task's own batch is gone afterwards.
    task.set_batch(2)
    seconds = []
    for _ in range(7):
        task.synchronize()
        begin = time.perf_counter()
        task.step()
        seconds.append(time.perf_counter() - begin)
    plain.issue_seconds = statistics.median(seconds)
