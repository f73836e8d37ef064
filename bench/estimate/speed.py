#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""How long `lowtide estimate` takes: each model of the zoo, and how it grows with the number of ops.

    bench/estimate/speed.py --program build/release/lowtide --build release --json result.json

Each time is the median of several whole runs of the program, and beside it that less what `lowtide models`
takes, which loads torch and ends: the estimate itself. Where a model grows by layers, the time per op should
stay what it is.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import commit_of, processor  # noqa: E402

GROWING = [("cifar_resnet", [("--layers", str(layers)) for layers in (20, 110, 506, 1202)]),
           ("gpt", [("--layers", str(layers), "--width", "64", "--heads", "4", "--context", "64")
                    for layers in (4, 16, 64, 256)])]


def seconds_of(program, *arguments, rounds):
    """The median of whole runs, their spread, and what the last one printed."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        done = subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times), max(times) - min(times), done.stdout


class Bench:
    def __init__(self, program, rounds):
        self.program, self.rounds = program, rounds
        self.start, self.start_spread, models = seconds_of(program, "models", "--json", rounds=rounds)
        self.models = [row["name"] for row in json.loads(models)["models"]]

    def row(self, model, *options):
        seconds, spread, text = seconds_of(self.program, "estimate", model, *options, "--json", rounds=self.rounds)
        row = {"model": model, "options": list(options), "ops": json.loads(text)["estimates"][0]["ops"],
               "seconds": seconds, "spread_seconds": spread, "without_start_seconds": seconds - self.start}
        print(f"{model:18} {' '.join(options):52} {row['ops']:7} ops {seconds:7.3f} s, without start "
              f"{row['without_start_seconds']:7.3f} s, {1e6 * row['without_start_seconds'] / row['ops']:6.1f} us an op",
              flush=True)
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/dev/lowtide")
    parser.add_argument("--build", default="dev", help="which build the program is of, for the result")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="where the result goes, beside the table")
    arguments = parser.parse_args()
    bench = Bench(arguments.program, arguments.rounds)
    print(f"start: {bench.start:.3f} s, between {arguments.rounds} runs {bench.start_spread:.3f} s")
    models = [bench.row(model) for model in bench.models]
    growth = [bench.row(model, *options) for model, steps in GROWING for options in steps]
    if arguments.json:
        result = {"machine": processor(), "commit": commit_of(pathlib.Path(__file__).parent),
                  "build": arguments.build, "rounds": arguments.rounds, "start_seconds": bench.start,
                  "start_spread_seconds": bench.start_spread,
                  "models": models, "growth": growth}
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
