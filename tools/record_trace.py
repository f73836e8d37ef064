#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Records one training step of a model as a Lowtide trace, and checks the trace by replaying its text.

    python3 tools/record_trace.py resnet50 --device cuda --batch 64 -o resnet50.trace

Needs torch only. The recorded step is forward, loss, backward, optimizer.step, zero_grad(set_to_none=True), after
warm-up steps, so that lazily made optimizer state exists and gradients live inside the step. This is the command
line; the folder recorder/ beside it does the work.
"""

import argparse
import sys

import torch

from recorder.checking import replay
from recorder.describing import describe, report
from recorder.recording import record
from recorder.trace import Storage
from recorder.training import RECIPES, Task
from recorder.writing import library_bytes, without_empty_ops, write_trace


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description="Record one training step as a Lowtide trace.")
    parser.add_argument("model", choices=RECIPES)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cpu")
    parser.add_argument("--batch", type=int, help="samples in a batch (default: the model's own)")
    parser.add_argument("--size", type=int, help="image side or sequence length (default: the model's own)")
    parser.add_argument("--steps-before", type=int, default=2, metavar="N", help="warm-up steps (at least 1)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    arguments = parser.parse_args(argv)
    if arguments.steps_before < 1:
        parser.error("--steps-before must be at least 1: the first step makes the optimizer's state")
    arguments.batch = arguments.batch or RECIPES[arguments.model].batch
    return arguments


def main(argv=None) -> int:
    arguments = parse_arguments(argv)
    recipe = RECIPES[arguments.model]
    size = arguments.size or recipe.size
    device = torch.device("cuda", 0) if arguments.device == "cuda" else torch.device("cpu")
    task = Task(recipe, arguments.batch, size, device)
    for _ in range(arguments.steps_before):
        task.step()
    recorder, plain, late_windows = record(task)
    ops, storages = without_empty_ops(recorder.ops), list(recorder.storages)
    if device.type == "cuda" and library_bytes(recorder.ops, storages):
        storages.append(Storage(library_bytes(recorder.ops, storages), "workspace", True, None, is_end=True))
    text = write_trace(arguments.model, describe(arguments, size, plain, recorder, ops), storages, ops)
    result = replay(text)
    with open(arguments.output, "w", encoding="ascii") as file:
        file.write(text)
    report(arguments.model, text, result, plain, ops, late_windows, storages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
