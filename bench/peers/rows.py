# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What the turns of bench/peers come to: a row a mode, ratios to plain of the same round, and bits."""

import statistics

GIB = 2**30
TITLES = {
    "plain": "plain",
    "checkpoint": "`torch.utils.checkpoint` around each block",
    "save_on_cpu": "`save_on_cpu(pin_memory=True)`",
    "compile": "`torch.compile`",
    "compile-0.5": "`torch.compile`, activation budget 0.5",
    "compile-blocks": "`torch.compile`, block by block",
    "compile-blocks-0.5": "`torch.compile`, block by block, activation budget 0.5",
}
SAME = ("losses", "parameters", "buffers")


def budget_share(mode):
    """60 of lowtide-60; None for other modes."""
    try:
        return float(mode.removeprefix("lowtide-")) if mode.startswith("lowtide-") else None
    except ValueError:
        return None


def title_of(mode):
    share = budget_share(mode)
    return f"**Lowtide, {share:g} %**" if share else TITLES[mode]


def short_of(turn):
    if "failure" in turn:
        return turn["failure"]
    return f"{1e3 * turn['median_seconds']:.1f} ms a step, {turn['seconds']:.1f} s in all"


def together(records):
    """Parts of one measurement as one record: the rounds of each part count on from those before. A part may have
    another number of steps, so each turn says which part it is from."""
    for name in ("machine", "device", "torch", "commit", "sizes"):
        if len({repr(record[name]) for record in records}) > 1:
            raise ValueError(f"these are no parts of one measurement, since they differ in {name}")
    turns, rounds = [], 0
    for part, record in enumerate(records):
        turns += [turn | {"round": turn["round"] + rounds, "part": part} for turn in record["turns"]]
        rounds = max((turn["round"] for turn in turns), default=0)
    return records[0] | {"turns": turns, "command": "; ".join(record["command"] for record in records)}


def modes_of(turns):
    """The modes in the order of their first turns, each with its turns."""
    modes = {}
    for turn in turns:
        modes.setdefault(turn["mode"], []).append(turn)
    return modes


def succeeded(turns):
    return [turn for turn in turns if "failure" not in turn]


def ratios_of(turns, plain_turns):
    """The step time over that of plain in the same round and kind of process; a turn without is left out."""
    plain = {(turn["kind"], turn["round"]): turn["median_seconds"] for turn in succeeded(plain_turns)}
    keys = [(turn["kind"], turn["round"]) for turn in succeeded(turns)]
    seconds = [turn["median_seconds"] for turn in succeeded(turns)]
    return [took / plain[key] for took, key in zip(seconds, keys) if key in plain]


def first_of_parts(plain_turns):
    """The plain turn that the bits of each part are compared with."""
    first = {}
    for turn in succeeded(plain_turns):
        first.setdefault(turn.get("part", 0), turn)
    return first


def differences(turn, plain):
    """What of the bits is not plain's."""
    return [what for what in SAME if turn[what] != plain[what]]


def most(turns, name):
    """The largest of a figure that torch does not have on a CPU."""
    return max((turn[name] for turn in turns if name in turn), default=None)


def time_cell(ratios):
    if not ratios:
        return "–"
    text = f"{statistics.median(ratios):.3f}"
    return text if len(ratios) == 1 else f"{text} ({min(ratios):.3f}..{max(ratios):.3f})"


def memory_cell(held, plain_held):
    if held is None:
        return "–"
    share = f" ({100 * held / plain_held:.0f} %)" if plain_held else ""
    return f"{held / GIB:.2f}{share}"


def bits_cell(turns, plain_turns):
    """What differs from plain of the same part in any of these turns."""
    first = first_of_parts(plain_turns)
    pairs = [(turn, first.get(turn.get("part", 0))) for turn in turns]
    pairs = [(turn, plain) for turn, plain in pairs if plain is not None and plain is not turn]
    if not pairs:
        return "–"
    others = sorted({what for turn, plain in pairs for what in differences(turn, plain)}, key=SAME.index)
    return ", ".join(others) + " differ" if others else "the same"


def row_of(mode, turns, plain_turns):
    """A row of the Markdown table."""
    good = succeeded(turns)
    if not good:
        return [title_of(mode), turns[-1]["failure"], "", "", ""]
    first = next(iter(succeeded(plain_turns)), None)
    plain_held = first.get("allocated_peak_bytes") if first else None
    ratios = ratios_of(turns, plain_turns)
    time = f"{1e3 * statistics.median(turn['median_seconds'] for turn in good):.1f} ms" if mode == "plain" else (
        time_cell(ratios))
    if len(good) < len(turns):
        why = next(turn["failure"] for turn in turns if "failure" in turn)
        time += f"; {len(turns) - len(good)} of {len(turns)} failed: {why}"
    return [title_of(mode), time, memory_cell(most(good, "allocated_peak_bytes"), plain_held),
            memory_cell(most(good, "reserved_peak_bytes"), plain_held),
            bits_cell(good, plain_turns)]


def markdown(record):
    """The lines of a table for each model."""
    for model in dict.fromkeys(turn["model"] for turn in record["turns"]):
        turns = [turn for turn in record["turns"] if turn["model"] == model]
        modes = modes_of(turns)
        size = ", ".join(f"{name} {value}" for name, value in record["sizes"][model].items())
        yield f"| {model} ({size}) | step time over plain's | allocated GiB | reserved GiB | bits |"
        yield "|---|--:|--:|--:|---|"
        for mode, taken in modes.items():
            cells = row_of(mode, taken, modes.get("plain", []))
            yield "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"
        yield ""
    yield (f"{record['machine']}, torch {record['torch']}, commit {record['commit'] or 'unknown'}: "
           f"`{record['command']}`")


def broken_promises(record):
    """Plain that does not repeat itself, a session with other bits, a budget that was not kept."""
    plain, broken = {}, []
    for turn in succeeded(record["turns"]):
        name = f"{turn['model']} {turn['mode']}, round {turn['round']}"
        first = plain.setdefault(turn["model"], turn) if turn["mode"] == "plain" else plain.get(turn["model"])
        if (turn["mode"] == "plain" or budget_share(turn["mode"])) and first and differences(turn, first):
            broken.append(f"{name}: {bits_cell([turn], [first])} from plain's")
        held = max(turn.get("allocated_peak_bytes", 0), turn.get("reserved_peak_bytes", 0))
        if budget_share(turn["mode"]) and held > turn["budget_bytes"]:
            broken.append(f"{name}: held {held} bytes within a budget of {turn['budget_bytes']}")
    return broken
