# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""One recording: a plain step, the times of its ops and its structure, brought together."""

import gc

from recorder.measuring import Plain, measure_issue, measure_plain
from recorder.structure import StructureRecorder
from recorder.timing import medians, time_ops
from recorder.training import Task
from recorder.watching import watched_step


def record(task: Task) -> tuple[StructureRecorder, Plain, int]:
    gc.collect()
    gc.disable()
    plain = measure_plain(task, repeats=30 if task.device.type == "cuda" else 3)
    names, device_seconds, hosts, late_windows = time_ops(task)
    recorder = watched_step(task, StructureRecorder(task, names))
    recorder.finish()
    if task.device.type == "cuda":
        measure_issue(task, plain)
    gc.enable()
    host_seconds = medians([host.host_seconds for host in hosts])
    # Watching costs the host about as much again as the op; the plain step's total says how much.
    host_scale = plain.host_seconds(sum(device_seconds)) / sum(host_seconds)
    for op, device, host in zip(recorder.ops, device_seconds, host_seconds, strict=True):
        op.device_seconds = device
        if task.device.type == "cuda":
            op.host_seconds = host * host_scale
            op.device_seconds = 0.0 if op.is_pure_view() else device
    return recorder, plain, late_windows
