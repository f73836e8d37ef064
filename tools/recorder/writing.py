# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Writes a recorded step in the text form of a Lowtide trace."""

from recorder.trace import PREFIX, Op, Storage


def without_empty_ops(ops: list[Op]) -> list[Op]:
    """Leaves out ops that touch nothing on the device (Adam's step counts); the next op bears their host time."""
    kept, host_seconds = [], 0.0
    for op in ops:
        if op.touches_nothing():
            host_seconds += op.host_seconds or 0.0
            if kept:
                kept[-1].freed += op.freed
            continue
        if op.host_seconds is not None:
            op.host_seconds += host_seconds
            host_seconds = 0.0
        kept.append(op)
    return kept


def library_bytes(ops: list[Op], storages: list[Storage]) -> int:
    """What torch's allocator held at the start beyond tensors: cuBLAS's workspaces, one for each host thread."""
    return max(0, ops[0].requested_bytes - sum(s.bytes for s in storages if s.is_start))


def seconds_text(seconds: float) -> str:
    return f"{seconds:.4g}".replace("e-0", "e-")


def op_line(op: Op) -> str:
    words = ["op", op.name, op.phase]
    words += [f"layer={op.layer}"] if op.layer else []
    words += [f"device={seconds_text(op.device_seconds)}"] if op.device_seconds is not None else []
    words += [f"host={seconds_text(op.host_seconds)}"] if op.host_seconds is not None else []
    words += [f"workspace={op.workspace_bytes}"] if op.workspace_bytes else []
    words += ["once"] if op.is_once else []
    words += ["random"] if op.is_random else []
    words += [":", *mentions(op.reads), "->", *mentions(op.writes)]
    words += ["|", *mentions(op.views)] if op.views else []
    words += ["free", *(s.name for s in op.freed)] if op.freed else []
    return " ".join(words)


def mentions(storages: dict[Storage, bool]) -> list[str]:
    return [("~" if aside else "") + storage.name for storage, aside in storages.items()]


def write_trace(name: str, comments: list[str], storages: list[Storage], ops: list[Op]) -> str:
    counts = dict.fromkeys(PREFIX, 0)
    lines = ["lowtide-trace 1", *(f"# {comment}" for comment in comments), f"name {name}"]
    for storage in storages:
        storage.name = f"{PREFIX[storage.kind]}{counts[storage.kind]}"
        counts[storage.kind] += 1
        flags = [" start"] * storage.is_start + [" end"] * storage.is_end + [" pinned"] * (storage.kind == "workspace")
        lines.append(f"storage {storage.name} {storage.bytes} {storage.kind}{''.join(flags)}")
    return "\n".join(lines + [op_line(op) for op in ops]) + "\n"
