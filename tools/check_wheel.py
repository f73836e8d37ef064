#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Builds the wheel from a clean clone, as `pip install .` does, and tries the one file under several
Pythons: each in a new environment, with the torch that pip finds.

usage: tools/check_wheel.py [--wheel FILE.whl] PYTHON...
  e.g. tools/check_wheel.py python3.10 python3.11 python3.12 python3.13

Needs some 10 GB of disk and a network or a folder of packages (PIP_FIND_LINKS), and takes ten minutes
or more: so no part of the tests. Prints a line for each Python, and fails if one does.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]

# A program without an edit; only its last lines ask whether it was managed.
TRAINING = textwrap.dedent("""
    import sys
    import torch
    if "RANK" in __import__("os").environ:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(256, 256),
                                                                        torch.nn.GELU())])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        loss = model(torch.randn(1024, 256)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    stats = sys.modules["lowtide"].memory_stats() if "lowtide" in sys.modules else None
    kept = stats is None or 0 < stats["evictions"] and stats["peak_bytes"] <= stats["budget_bytes"]
    # In one piece: ranks share the stream.
    sys.stdout.write(f"{loss.item().hex()} {'kept' if kept else stats} {'managed' if stats else 'plain'}\\n")
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
""")


def run(command, **options):
    """What the command prints; fails with all it said."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            check=False, **options)
    if result.returncode != 0:
        sys.exit(f"check_wheel: {command} failed\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")
    return result.stdout


def new_environment(python, folder):
    """The Python of a new virtual environment."""
    run([python, "-m", "venv", folder])
    return folder / "bin" / "python"


def build_wheel(python, folder):
    """The wheel of what is committed."""
    clone = folder / "clone"
    run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone])
    builder = new_environment(python, folder / "builder")
    run([builder, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, clone])
    return next(folder.glob("lowtide-*.whl"))


def environment_of(**variables):
    """The variables of a user who has installed the package, and nothing of a checkout."""
    ours = {name: value for name, value in os.environ.items()
            if not name.startswith(("LOWTIDE", "PYTHONPATH"))}
    return ours | {"OMP_NUM_THREADS": "1"} | variables


def check_trainings(python, folder):
    """The same bits plainly, by the launcher, by the variable, and by the variable under torchrun."""
    script = folder / "train.py"
    script.write_text(TRAINING)
    budget = {"LOWTIDE_BUDGET": "12MiB", "LOWTIDE_DEVICE": "cpu"}

    def lines(*command, **variables):
        return run([python, *command, script], cwd=folder, env=environment_of(**variables)).splitlines()

    plain, = lines()
    managed = plain.replace("plain", "managed")
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    ways = {
        "lowtide run": (1, lines("-m", "lowtide", "run", "--budget", "12MiB", "--device", "cpu")),
        "LOWTIDE_BUDGET": (1, lines(**budget)),
        "LOWTIDE_BUDGET under torchrun": (2, lines(*torchrun, **budget)),
    }
    for name, (count, found) in ways.items():
        if found != [managed] * count:
            sys.exit(f"check_wheel: {name}: {found}, but plainly {plain}")
    return list(ways)


def check_devices(python, folder):
    """With a torch for GPUs, so is the package; pip would not have told."""
    answer = run([python, "-c", "import torch, lowtide; print(torch.version.cuda is None or "
                  "lowtide._library.library().lowtide_is_built_for_gpus() == 1)"], cwd=folder,
                 env=environment_of())
    if answer.strip() != "True":
        sys.exit("check_wheel: torch is for GPUs, but the wheel was built for the processor only")


def check_programs(python, folder):
    """The programs came along, and find their libraries."""
    program = python.with_name("lowtide")
    if "small_resnet" not in run([program, "models"], cwd=folder, env=environment_of()):
        sys.exit("check_wheel: `lowtide models` does not list the models")
    run([program, "train", "lenet5", "--steps", "2", "--data", "synthetic", "--device", "cpu"],
        cwd=folder, env=environment_of())


def check_under(python, wheel):
    """Installs the wheel for a Python and uses it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        installed = new_environment(python, folder / "installed")
        run([installed, "-m", "pip", "install", wheel, "numpy"])
        versions = run([installed, "-c", "import sys, torch, lowtide; print(sys.version.split()[0], "
                        "torch.__version__, lowtide.__version__)"], cwd=folder,
                       env=environment_of()).split()
        check_devices(installed, folder)
        ways = check_trainings(installed, folder)
        check_programs(installed, folder)
    print(f"Python {versions[0]}, torch {versions[1]}, lowtide {versions[2]}: the same bits by "
          f"{', '.join(ways)}; programs work", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=pathlib.Path, help="try this one; build none")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        wheel = options.wheel or build_wheel(options.pythons[0], pathlib.Path(name))
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB", flush=True)
        for python in options.pythons:
            check_under(python, wheel.resolve())


if __name__ == "__main__":
    main()
