# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A few pictures and letters to learn from, for runs that only show that everything runs."""

import pathlib
import random
import struct

SIDE, CLASSES = 28, 10


def _write_idx(file, sizes, values):
    head = struct.pack(f">BBBB{len(sizes)}I", 0, 0, 8, len(sizes), *sizes)
    file.write_bytes(head + bytes(values))


def _write_pictures(folder, kind, count, generator):
    """Each class is a bar at a height of its own, among noise."""
    labels = [number % CLASSES for number in range(count)]
    pixels = []
    for label in labels:
        pixels += [255 if row // 2 == label + 2 else generator.randrange(96)
                   for row in range(SIDE) for _ in range(SIDE)]
    _write_idx(folder / f"{kind}-images-idx3-ubyte", (count, SIDE, SIDE), pixels)
    _write_idx(folder / f"{kind}-labels-idx1-ubyte", (count,), labels)


def write_examples(folder, training=32, evaluation=16):
    """FOLDER/pictures, as IDX files, and FOLDER/text.txt. The same each time."""
    generator = random.Random(1)
    pictures = pathlib.Path(folder) / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    _write_pictures(pictures, "train", training, generator)
    _write_pictures(pictures, "t10k", evaluation, generator)
    text = "".join(generator.choice("abcd efgh\n") for _ in range(600))
    (pathlib.Path(folder) / "text.txt").write_text(text, encoding="utf-8")
