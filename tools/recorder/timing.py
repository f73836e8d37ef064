# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Host and device seconds of each op of a step."""

import statistics
import sys
import time

import torch

from recorder.training import Task
from recorder.watching import Watcher, execute, watched_step


class HostTimer(Watcher):
    """Host seconds of each op: its call and what autograd and the program did since the op before."""

    window = 64  # The device is drained this often, outside the measured time: a full launch queue blocks the host.

    def __init__(self, task: Task):
        super().__init__()
        self.task = task
        self.call_seconds: list[float] = []
        self.host_seconds: list[float] = []
        self.left_at = time.perf_counter()

    def call(self, op, args, kwargs):
        gap_seconds = time.perf_counter() - self.left_at
        if len(self.names) % self.window == 0:
            self.task.synchronize()
        begin = time.perf_counter()
        result = execute(op, args, kwargs)
        self.call_seconds.append(time.perf_counter() - begin)
        self.host_seconds.append(gap_seconds + self.call_seconds[-1])
        self.left_at = time.perf_counter()
        return result


class DeviceTimer(Watcher):
    """Device seconds of each op by a pair of CUDA events.

    An event pair on an idle stream would measure the launch, not the kernel. So before every window of ops the device
    is put to sleep for longer than the host needs to issue them: each op then finds the next one already queued.
    `late_windows` counts the windows in which the sleep ended too early.
    """

    window = 64
    sleep_seconds = 0.03

    def __init__(self, cycles_per_second: float):
        super().__init__()
        self.cycles_ = int(cycles_per_second * self.sleep_seconds)
        self.pairs_: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self.awake_ = None
        self.late_windows = 0

    def call(self, op, args, kwargs):
        if len(self.pairs_) % self.window == 0:
            self.sleep_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        result = execute(op, args, kwargs)
        end.record()
        self.pairs_.append((begin, end))
        return result

    def sleep_(self) -> None:
        if self.awake_ is not None and self.awake_.query():
            self.late_windows += 1
        torch.cuda.synchronize()
        torch.cuda._sleep(self.cycles_)
        self.awake_ = torch.cuda.Event()
        self.awake_.record()

    def device_seconds(self) -> list[float]:
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e-3 for begin, end in self.pairs_]


def medians(rows: list[list[float]]) -> list[float]:
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def time_ops(task: Task) -> tuple[list[str], list[float], list[HostTimer], int]:
    """The names of a step's ops, their device seconds (medians of three steps), host timers, late windows."""
    hosts = [watched_step(task, HostTimer(task)) for _ in range(3)]
    if task.device.type != "cuda":
        return hosts[0].names, medians([host.call_seconds for host in hosts]), hosts, 0
    cycles = 10_000_000
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    torch.cuda.synchronize()
    cycles_per_second = cycles / (begin.elapsed_time(end) * 1e-3)
    empty = DeviceTimer(cycles_per_second)
    for _ in range(DeviceTimer.window):
        empty.call(torch.ops.aten.alias.default, (task.inputs,), {})
    empty_seconds = statistics.median(empty.device_seconds())
    timers = [watched_step(task, DeviceTimer(cycles_per_second)) for _ in range(3)]
    for timer in timers + hosts:
        if timer.names != timers[0].names:
            raise RuntimeError("the op sequence changes from step to step")
    print(f"an empty event pair takes {empty_seconds * 1e6:.2f} us", file=sys.stderr)
    seconds = medians([timer.device_seconds() for timer in timers])
    late_windows = sum(timer.late_windows for timer in timers)
    return timers[0].names, [max(0.0, s - empty_seconds) for s in seconds], hosts, late_windows
