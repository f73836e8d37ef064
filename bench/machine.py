# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What benchmarks tell of the machine, and what programs that link torch need on one."""

import glob
import importlib.util
import os
import pathlib
import shutil
import subprocess


def first_line(command):
    """Of what it prints; empty if it cannot be run or fails."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.split("\n")[0].strip() if done.returncode == 0 else ""


def gpu_name():
    return first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])


def processor():
    """Its name and how many cores of it are there."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown'}, {len(names)} cores"


def commit_of(folder):
    return first_line(["git", "-C", str(folder), "rev-parse", "--short", "HEAD"])


def environment():
    """With the libraries of this Python's torch where programs look that do not find their own."""
    values = dict(os.environ)
    torch = importlib.util.find_spec("torch")
    if torch:
        folder = pathlib.Path(torch.origin).parent
        found = [str(folder / "lib")] + glob.glob(str(folder.parent / "nvidia" / "*" / "lib"))
        values["LD_LIBRARY_PATH"] = ":".join(found + [values.get("LD_LIBRARY_PATH", "")])
    return values
