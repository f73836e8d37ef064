# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Checks the text of a trace by replaying it. Needs no torch."""

import dataclasses


@dataclasses.dataclass
class Replay:
    op_count: int
    storage_count: int
    peak_bytes: int  # each storage rounded up to 512 bytes, workspace included
    peak_op: int
    live_bytes: list[int]  # not rounded, when each op begins


def split_op(line: str) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {"head": [], ":": [], "->": [], "|": [], "free": []}
    current = "head"
    for word in line.split("#")[0].split():
        if word in parts and current != "free":
            current = word
        else:
            parts[current].append(word)
    return parts


def rounded(size: int) -> int:
    return (size + 511) // 512 * 512


def replay(text: str) -> Replay:
    """Carries the text out by the rules of the format; raises ValueError where it breaks one."""
    bytes_of, start, end, ops = {}, set(), set(), []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == "storage":
            bytes_of[words[1]] = int(words[2])
            start |= {words[1]} if "start" in words[4:] else set()
            end |= {words[1]} if "end" in words[4:] else set()
        elif words and words[0] == "op":
            ops.append(split_op(line))
    live, released, live_bytes, peak, peak_op = set(start), set(), [], 0, 0
    held, held_exact = sum(rounded(bytes_of[s]) for s in live), sum(bytes_of[s] for s in live)
    for i, op in enumerate(ops):
        reads, writes = ([word.lstrip("~") for word in op[part]] for part in (":", "->"))
        live_bytes.append(held_exact)
        for name in reads + op["|"]:
            if name not in live:
                raise ValueError(f"op {i} {op['head'][1]} uses {name}, which has no value")
        for name in writes:
            if name in released:
                raise ValueError(f"op {i} {op['head'][1]} writes {name} after its release")
            if name not in live:
                live.add(name)
                held, held_exact = held + rounded(bytes_of[name]), held_exact + bytes_of[name]
        workspace = sum(rounded(int(word[10:])) for word in op["head"] if word.startswith("workspace="))
        if held + workspace > peak:
            peak, peak_op = held + workspace, i
        for name in op["free"]:
            if name not in live or name in end:
                raise ValueError(f"op {i} {op['head'][1]} frees {name}, which is not live or must stay")
            live.remove(name)
            released.add(name)
            held, held_exact = held - rounded(bytes_of[name]), held_exact - bytes_of[name]
    if live != end:
        raise ValueError(f"alive at the end but not marked so, or the reverse: {sorted(live ^ end)[:8]}")
    return Replay(len(ops), len(bytes_of), peak, peak_op, live_bytes)
