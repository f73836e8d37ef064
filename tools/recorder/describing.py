# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is said about a recording: the comments in the head of the file, and the lines printed at the end."""

import torch

from recorder.checking import Replay
from recorder.measuring import Plain
from recorder.structure import StructureRecorder
from recorder.trace import Op
from recorder.training import RECIPES


def describe(arguments, size: int, plain: Plain, recorder: StructureRecorder, ops: list[Op]) -> list[str]:
    recipe = RECIPES[arguments.model]
    is_cuda = arguments.device == "cuda"
    dtype = "float32, autocast to bfloat16" if recipe.autocast else "float32 (convolutions in TF32 on CUDA)"
    lines = [
        f"model {arguments.model}, batch {arguments.batch}, size {size}, dtype {dtype}, "
        f"optimizer {recipe.optimizer} (foreach), seed 0",
        f"device {torch.cuda.get_device_name() if is_cuda else 'cpu'}, torch {torch.__version__}",
        f"plain step seconds {plain.step_seconds:.5g} "
        f"(median; {plain.fastest_seconds:.5g} to {plain.slowest_seconds:.5g})",
        f"sum of device seconds {sum(op.device_seconds for op in ops):.5g}",
    ]
    if is_cuda:
        lines += [
            f"plain host seconds {plain.return_seconds:.5g}, at batch 2 {plain.issue_seconds:.5g}, "
            f"sum of host seconds {sum(op.host_seconds for op in ops):.5g}",
            f"plain peak allocated bytes {plain.allocated_bytes} (torch.cuda.max_memory_allocated), "
            f"asked for at the peak {plain.requested_bytes}, allocated between steps {plain.start_bytes}",
            f"peak allocated bytes while recording {recorder.peak_allocated_bytes}",
        ]
    command = f"python3 tools/record_trace.py {arguments.model} --device {arguments.device} --batch {arguments.batch}"
    return lines + [f"{command} --size {size} --steps-before {arguments.steps_before} -o {arguments.model}.trace"]


def report(model: str, text: str, result: Replay, plain: Plain, ops: list[Op], late_windows: int, storages) -> None:
    unexpected = [s.name for s in storages if s.is_end and not s.is_start]
    print(f"{model}: {result.op_count} ops, {result.storage_count} storages, {len(text)} bytes of text, "
          f"trace peak {result.peak_bytes} at op {result.peak_op} ({ops[result.peak_op].name}), "
          f"torch peak {plain.allocated_bytes} ({result.peak_bytes / max(1, plain.allocated_bytes):.4f}), "
          f"asked for {plain.requested_bytes} ({result.peak_bytes / max(1, plain.requested_bytes):.4f})")
    print(f"{model}: step {plain.step_seconds:.5g} s ({plain.fastest_seconds:.5g} to {plain.slowest_seconds:.5g}), "
          f"host returns after {plain.return_seconds:.5g} s, "
          f"device sum {sum(op.device_seconds for op in ops):.5g} s, "
          f"host sum {sum(op.host_seconds or 0 for op in ops):.5g} s, plain issue {plain.issue_seconds:.5g} s, "
          f"{late_windows} late windows, made and kept: {unexpected}")
    if plain.requested_bytes:
        drift = [op.requested_bytes - live for op, live in zip(ops, result.live_bytes, strict=True)]
        print(f"{model}: allocator minus trace, over all ops: {min(drift)} to {max(drift)} bytes")
