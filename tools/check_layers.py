#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Fails when an #include under src/ or include/ goes against the layers.

The table below is the design: a new arrow in it is a decision, not a repair.
"""

import pathlib
import re
import sys

# Folder of src/ -> the folders it builds on. What those build on is allowed too.
ARROWS = {
    # Planning half.
    "base": [],
    "trace": ["base"],
    "cost": ["trace"],
    "plan": ["cost"],
    "sim": ["plan", "solve"],
    "solve": ["base"],
    "policy": ["sim", "solve"],
    "report": ["policy"],
    # Running half. policy/ and run/ never meet but in session/.
    "run/tier": ["base"],
    "run/codec": ["base"],
    "run/engine": ["run/tier", "run/codec", "plan", "solve"],
    "run/torch": ["run/engine"],
    "run/cuda": ["run/torch"],
    "session": ["report", "run/torch", "run/cuda"],
    # Around it.
    "cli": ["report", "estimate"],
    "cli/torch": ["cli", "train", "ctdr", "estimate/torch"],
    "train": ["session", "zoo"],
    "ctdr": ["train", "decompose"],
    "demo": ["session", "zoo"],
    "capi": ["session", "decompose"],
    "estimate": ["trace", "cost", "sim"],
    "estimate/torch": ["estimate", "train"],
    "tune": ["base", "run/cuda"],
    "zoo": ["base"],
    "decompose": ["base"],
    "optim": ["base"],
}

# Public header -> the folder that implements it, which is the layer it counts as.
PUBLIC_OWNERS = {
    "lowtide/bytes.h": "base",
    "lowtide/ids.h": "base",
    "lowtide/errors.h": "base",
    "lowtide/trace.h": "trace",
    "lowtide/machine.h": "cost",
    "lowtide/plan.h": "plan",
    "lowtide/online.h": "plan",
    "lowtide/simulate.h": "sim",
    "lowtide/policy.h": "policy",
    "lowtide/session.h": "session",
    "lowtide/decompose.h": "decompose",
    "lowtide/lowtide.h": "capi",
}

# Headers that only some folders may see, so that the planning half builds without either.
RESTRICTED = [
    ("torch", re.compile(r"(ATen|c10|torch|caffe2)/"),
     ["run/torch", "run/cuda", "zoo", "decompose", "session", "train", "ctdr", "cli/torch", "capi",
      "demo", "estimate/torch"]),
    ("CUDA", re.compile(r"(cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|cufile)\w*\.h"
                        r"|(nvrtc|nvml|nccl)\w*\.h|(cuda|cub|thrust|nvtx3|cooperative_groups)/"),
     ["run/cuda", "tune"]),
]

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A header of the standard library: no folder, and no extension but for those it has from C.
STANDARD = re.compile(r"[a-z_0-9]+|std(arg|bool|def|int|io|lib)\.h")
SOURCE_SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".inc"}


def layers_below(folder):
    """The folders that `folder` may include: itself and all it builds on."""
    allowed, pending = set(), [folder]
    while pending:
        current = pending.pop()
        if current not in allowed:
            allowed.add(current)
            pending += ARROWS[current]
    return allowed


def folder_of(path):
    """The longest folder of the table that `path` (under src/) lies in, or None."""
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in ARROWS:
            return str(parent)
    return None


def layer_of(header):
    """The layer that an included header counts as, or None if it is not ours."""
    return PUBLIC_OWNERS.get(header) or folder_of(header)


def describe(allowed):
    return ", ".join(folder for folder in ARROWS if folder in allowed) or "nothing of ours"


def problem_with(user, layer, header, is_quoted):
    """What is wrong with including `header` from `user` (a name to print) of `layer`, or None."""
    if header.startswith("lowtide/") and header not in PUBLIC_OWNERS:
        return f"{header} has no owner; add it to PUBLIC_OWNERS in tools/check_layers.py"
    included = layer_of(header)
    if included:
        allowed = layers_below(layer)
        if included not in allowed:
            owner = f" (of {included})" if header in PUBLIC_OWNERS else ""
            return f"{user} may not include {header}{owner}; allowed: {describe(allowed)}"
        return None
    for name, pattern, folders in RESTRICTED:
        if pattern.match(header) and layer not in folders:
            return f"{user} may not include {header}; {name} headers only in: {', '.join(folders)}"
    if is_quoted:
        return (f'"{header}" is in no folder of src/ or include/; '
                "write the full path from there, or <> for what is not ours")
    return None


def problem_with_public(path, header, is_quoted):
    """As problem_with, for a header under include/: only public and standard headers."""
    owner = PUBLIC_OWNERS[path]
    if not header.startswith("lowtide/") and not (STANDARD.fullmatch(header) and not is_quoted):
        return f"{path} is public and may not include {header}; allowed: lowtide/*, standard ones"
    return problem_with(path, owner, header, is_quoted)


def includes_of(text):
    """Yields (line number, header, whether it stands in quotes)."""
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[2], match[1] == '"'


def check_file(root, file):
    """Yields one message for each problem of one file."""
    shown = file.relative_to(root).as_posix()
    top, _, path = shown.partition("/")
    folder = folder_of(path)
    if top == "include" and path not in PUBLIC_OWNERS:
        yield f"{shown}:1: this header has no owner in PUBLIC_OWNERS of tools/check_layers.py"
        return
    if top == "src" and folder is None:
        yield f"{shown}:1: this folder is not in the table ARROWS of tools/check_layers.py"
        return
    for number, header, is_quoted in includes_of(file.read_text(encoding="utf-8")):
        if top == "include":
            problem = problem_with_public(path, header, is_quoted)
        else:
            problem = problem_with(f"src/{folder}", folder, header, is_quoted)
        if problem:
            yield f"{shown}:{number}: {problem}"


def check_tree(root):
    """All messages for the sources under `root`, and the number of files read."""
    files = sorted(file for top in ("src", "include") for file in (root / top).rglob("*")
                   if file.suffix in SOURCE_SUFFIXES)
    return [message for file in files for message in check_file(root, file)], len(files)


def main():
    messages, file_count = check_tree(pathlib.Path(__file__).resolve().parent.parent)
    for message in messages:
        print(message, file=sys.stderr)
    print(f"check_layers: {file_count} files, {len(messages)} problems")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
