#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Estimated against measured peaks, beside other ways to estimate.

    bench/estimate/compare.py --program build/release/lowtide --device cuda --jobs 6 --json result.json
    bench/estimate/compare.py --measured result.json --json result.json

Each row trains a model of the zoo for three steps without a budget and estimates the same. Beside it stand
PyTorch's MemTracker (for models that torchvision has, on fake tensors, so it must run with the Python of
.venv), and the graph's own tensors, as DNNMem counts them without hidden consumers: weights, gradients, the
optimizer's states and what operators read and give, but no masks, indices, statistics or casts that are only
kept for the backward pass, no workspaces and no rounding. When they come and go is taken from our own step.
--measured takes the measurements of an earlier result and estimates anew, so that a machine without a GPU, or
one with torchvision, can say how far off the program is by now. Rows that fail are counted and named.
"""

import argparse
import concurrent.futures
import functools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from machine import commit_of  # noqa: E402

# Model, options on the CPU, batch there, batch on a GPU.
MODELS = [
    ("alexnet", ("--size", "96"), 4, 256),
    ("vgg11_bn", ("--size", "64"), 2, 64),
    ("resnet18", ("--size", "96"), 8, 128),
    ("resnet50", ("--size", "96"), 4, 64),
    ("densenet121", ("--size", "64"), 4, 64),
    ("mobilenet_v2", ("--size", "96"), 8, 128),
    ("googlenet", ("--size", "96"), 4, 64),
    ("unet", ("--size", "64"), 2, 8),
    ("vit_ti_16", ("--size", "96"), 8, 128),
    ("bert_base", ("--context", "64", "--layers", "2"), 4, 32),
    ("gpt2", ("--context", "64", "--layers", "2"), 2, 16),
    ("lstm", ("--context", "35"), 4, 64),
    ("small_resnet", (), 64, 512),
]
# On a GPU only: model, options, batch, optimizer.
GPU_ONLY = [
    ("vgg16", (), 64, "sgd"),
    ("vgg16", ("--amp", "bf16"), 64, "sgd"),
    ("resnet50", ("--amp", "bf16"), 64, "adamw"),
    ("resnet152", (), 32, "sgd"),
    ("inception_v3", (), 32, "adamw"),
    ("inception_v4", (), 32, "sgd"),
    ("densenet201", (), 32, "adamw"),
    ("vit_b_16", (), 32, "adamw"),
    ("vit_b_16", ("--amp", "bf16"), 64, "adamw"),
    ("bert_base", ("--amp", "bf16"), 64, "adamw"),
    ("gpt2", ("--amp", "bf16"), 32, "adamw"),
    ("gpt2_medium", ("--amp", "bf16"), 8, "adam"),
    ("cifar_resnet", ("--layers", "110"), 256, "sgd"),
    ("lenet5", (), 512, "adam"),
]
OPTIMIZERS = ("sgd", "adamw")


def combinations(device):
    """(model, options, batch, optimizer) of each row."""
    if device == "cpu":
        return [(model, options, batch, optimizer) for model, options, batch, _ in MODELS
                for optimizer in OPTIMIZERS]
    return [(model, (), batch, optimizer) for model, _, _, batch in MODELS
            for optimizer in OPTIMIZERS] + GPU_ONLY


def run(program, *arguments):
    done = subprocess.run([program, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


# Ops that only change the type of what they read, as autocast has them.
CASTS = ("_to_copy", "to")


def hidden(trace):
    """Storages that a forward op makes beside its result, or as a copy of another type."""
    made = {i for i, storage in enumerate(trace["storages"]) if storage.get("start")}
    found = set()
    for op in trace["ops"]:
        new = [i for i in op.get("writes", []) if i not in made]
        if op["phase"] == "forward":
            found |= set(new if op["name"] in CASTS else new[1:])
        made |= set(new)
    return found


def graph_tensors(trace):
    """The peak of a graph's own tensors: no workspaces, no rounding, nothing hidden."""
    left_out = hidden(trace)
    sizes = [0 if storage["kind"] == "workspace" or i in left_out else storage["bytes"]
             for i, storage in enumerate(trace["storages"])]
    there = {i for i, storage in enumerate(trace["storages"]) if storage.get("start")}
    # What is not said to be freed elsewhere goes with its last use, unless it stays.
    last = {i: n for n, op in enumerate(trace["ops"]) for i in [*op.get("reads", []), *op.get("writes", [])]}
    named = {i for op in trace["ops"] for i in op.get("frees", [])}
    gone_after = {}
    for i, storage in enumerate(trace["storages"]):
        if i not in named and not storage.get("end"):
            gone_after.setdefault(last.get(i, 0), set()).add(i)
    held = peak = sum(sizes[i] for i in there)
    for n, op in enumerate(trace["ops"]):
        made = set(op.get("writes", [])) - there
        held += sum(sizes[i] for i in made)
        peak = max(peak, held)
        there |= made
        gone = (set(op.get("frees", [])) | gone_after.get(n, set())) & there
        held -= sum(sizes[i] for i in gone)
        there -= gone
    return peak


def size_of(model_name, options):
    """Height and width of the pictures, as the zoo has them."""
    if "--size" in options:
        return int(options[options.index("--size") + 1])
    return 299 if model_name.startswith("inception") else 224


def loss_of(outputs, targets):
    """Of all heads: those of torchvision's inceptions are there while they train."""
    from torch import Tensor
    from torch.nn.functional import cross_entropy
    heads = [outputs] if isinstance(outputs, Tensor) else [head for head in outputs if head is not None]
    return sum(cross_entropy(head, targets) for head in heads)


def tracked_peak(make, size, batch, optimizer_name):
    """What MemTracker counts in two steps of a model on fake tensors."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker
    with FakeTensorMode():
        model = make()
        parameters = model.parameters()
        optimizer = torch.optim.AdamW(parameters, fused=True) if optimizer_name == "adamw" else torch.optim.SGD(
            parameters, lr=0.1, momentum=0.9)
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        inputs, targets = torch.empty(batch, 3, size, size), torch.zeros(batch, dtype=torch.long)
        with tracker:
            for _ in range(2):
                tracker.reset_mod_stats()
                loss_of(model(inputs), targets).backward()
                optimizer.step()
                optimizer.zero_grad()
        return max(kinds["Total"] for kinds in tracker.get_tracker_snapshot("peak").values())


def mem_tracker(model_name, options, batch, optimizer_name):
    """What PyTorch's own tracker says, or None where torchvision has no such model or the row needs what it
    is not asked for here."""
    try:
        import torchvision
        make = getattr(torchvision.models, model_name)
        if model_name in ("googlenet", "inception_v3"):  # Their own first values take long, even on fakes.
            make = functools.partial(make, init_weights=False)
    except (ImportError, AttributeError):
        return None
    if "--amp" in options or optimizer_name not in ("sgd", "adamw"):
        return None
    try:
        return tracked_peak(make, size_of(model_name, options), batch, optimizer_name)
    except Exception as error:  # Another tool's trouble is no reason to stop.
        print(f"MemTracker on {model_name}: {error}", file=sys.stderr)
        return None


def words_of(model, options, batch, optimizer):
    return (model, *options, "--batch", str(batch), "--optimizer", optimizer)


def train(arguments, combination):
    trained = run(arguments.program, "train", *words_of(*combination), "--json", "--device", arguments.device,
                  "--data", "synthetic", "--steps", "3")
    measured = {"measured_bytes": trained["peak_bytes"]}
    if arguments.device != "cpu":
        measured["measured_reserved_bytes"] = trained["reserved_peak_bytes"]
    return measured


def row_of(arguments, combination, measured):
    """One row; `measured` is None where it is to be measured now."""
    model, options, batch, optimizer = combination
    is_gpu = arguments.device != "cpu"
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "step.json"
        estimated = run(arguments.program, "estimate", *words_of(*combination), "--json", "--device",
                        "gpu" if is_gpu else "cpu", "--states", "start", "-o", str(trace))["estimates"][0]
        graph = graph_tensors(json.loads(trace.read_text()))
    row = {"model": model, "options": list(options), "batch": batch, "optimizer": optimizer,
           **(measured or train(arguments, combination)), "estimated_bytes": estimated["peak_bytes"],
           "margin": estimated["margin"], "graph_tensors_bytes": graph,
           "mem_tracker_bytes": mem_tracker(model, options, batch, optimizer)}
    if is_gpu:
        row["estimated_reserved_bytes"] = estimated["reserved_peak_bytes"]
    return row


def error_of(row, name, measured="measured_bytes"):
    return None if row.get(name) is None else row[name] / row[measured] - 1


def summary(rows, name, measured="measured_bytes"):
    errors = sorted(abs(error_of(row, name, measured)) for row in rows if row.get(name) is not None)
    if not errors:
        return None
    return {"rows": len(errors), "median": statistics.median(errors), "p95": errors[math.ceil(0.95 * len(errors)) - 1],
            "largest": errors[-1]}


def below_truth(rows):
    """Rows whose estimate is below what was measured even with its margin."""
    return [f"{row['model']} {row['batch']} {row['optimizer']} {kind}" for row in rows
            for kind in ("", "reserved_") if f"estimated_{kind}bytes" in row
            and row[f"estimated_{kind}bytes"] * (1 + row["margin"]) < row[f"measured_{kind}bytes"]]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/dev/lowtide")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="rows at a time")
    parser.add_argument("--measured", help="an earlier result: its measurements instead of new ones")
    parser.add_argument("--json", help="where the result goes, beside the table")
    return parser.parse_args()


def wanted_rows(arguments):
    """(combination, measurements or None) of each row."""
    if not arguments.measured:
        return [(combination, None) for combination in combinations(arguments.device)]
    earlier = json.loads(pathlib.Path(arguments.measured).read_text())
    arguments.device = earlier["device"]
    return [((row["model"], tuple(row["options"]), row["batch"], row["optimizer"]),
             {key: value for key, value in row.items() if key.startswith("measured_")}) for row in earlier["rows"]]


def text_of_error(error):
    return "-" if error is None else f"{error:+.2%}"


def print_row(row):
    errors = [error_of(row, name) for name in ("estimated_bytes", "graph_tensors_bytes", "mem_tracker_bytes")]
    if "measured_reserved_bytes" in row:
        errors.insert(1, error_of(row, "estimated_reserved_bytes", "measured_reserved_bytes"))
    name = " ".join([row["model"], *row["options"]])
    print(f"{name:26} {row['batch']:5} {row['optimizer']:9} {row['measured_bytes']:14,} "
          + " ".join(f"{text_of_error(error):>10}" for error in errors), flush=True)


def attempt(arguments, combination, measured):
    try:
        return row_of(arguments, combination, measured)
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        return None


def main():
    arguments = parse_arguments()
    wanted = wanted_rows(arguments)
    titles = ["estimated", "graph", "MemTracker"]
    if arguments.device != "cpu":
        titles.insert(1, "reserved")
    print(f"{'model':26} {'batch':>5} {'optimizer':9} {'measured':>14} " + " ".join(f"{t:>10}" for t in titles))
    rows, failed = [], []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for pair, row in zip(wanted, pool.map(lambda pair: attempt(arguments, *pair), wanted)):
            if row is None:
                failed.append(" ".join(words_of(*pair[0])))
            else:
                rows.append(row)
                print_row(row)
    names = ("estimated_bytes", "graph_tensors_bytes", "mem_tracker_bytes")
    result = {"device": arguments.device, "commit": commit_of(pathlib.Path(__file__).parent), "rows": rows,
              "errors": {name: summary(rows, name) for name in names}, "below_truth_with_margin": below_truth(rows),
              "failed": failed}
    if arguments.device != "cpu":
        result["errors"]["estimated_reserved_bytes"] = summary(rows, "estimated_reserved_bytes",
                                                               "measured_reserved_bytes")
    print(json.dumps({key: result[key] for key in ("errors", "below_truth_with_margin", "failed")}, indent=1))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
