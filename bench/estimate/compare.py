#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Estimated against measured peaks, beside other ways to estimate.

    bench/estimate/compare.py --program build/release/lowtide --device cuda --json result.json

Each row trains a model of the zoo for two steps without a budget and estimates the same. Beside it stand
PyTorch's MemTracker (for models that torchvision has, on fake tensors, so it must run with the Python of
.venv), and what is left of our own estimate without workspaces and rounding, which is what counting a graph's
tensors comes to.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Model, options, batch on the CPU, batch on a GPU.
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
    ("bert_base", ("--context", "64", "--layers", "2"), 4, 64),
    ("gpt2", ("--context", "64", "--layers", "2"), 2, 32),
    ("lstm", ("--context", "35"), 4, 64),
    ("small_resnet", (), 64, 512),
]
OPTIMIZERS = ("sgd", "adamw")


def run(program, *arguments):
    done = subprocess.run([program, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def tensors_only(trace):
    """The peak of a step's tensors alone: no workspaces, no rounding."""
    sizes = [storage["bytes"] if storage["kind"] != "workspace" else 0 for storage in trace["storages"]]
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


def mem_tracker(model_name, options, batch, optimizer_name):
    """What PyTorch's own tracker says, or None where torchvision has no such model."""
    try:
        import torch
        import torchvision
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.distributed._tools.mem_tracker import MemTracker
        make = getattr(torchvision.models, model_name)
    except (ImportError, AttributeError):
        return None
    size = int(options[1]) if options else 224
    try:
        with FakeTensorMode():
            model = make()
            parameters = model.parameters()
            optimizer = torch.optim.AdamW(parameters) if optimizer_name == "adamw" else torch.optim.SGD(
                parameters, lr=0.1, momentum=0.9)
            tracker = MemTracker()
            tracker.track_external(model, optimizer)
            inputs = torch.empty(batch, 3, size, size)
            targets = torch.zeros(batch, dtype=torch.long)
            with tracker:
                for _ in range(2):
                    tracker.reset_mod_stats()
                    outputs = model(inputs)
                    outputs = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
                    torch.nn.functional.cross_entropy(outputs, targets).backward()
                    optimizer.step()
                    optimizer.zero_grad()
            return max(kinds["Total"] for kinds in tracker.get_tracker_snapshot("peak").values())
    except Exception as error:  # Another tool's trouble is no reason to stop.
        print(f"MemTracker on {model_name}: {error}", file=sys.stderr)
        return None


def measure(arguments, model, options, batch, optimizer):
    is_gpu = arguments.device != "cpu"
    common = (model, *options, "--batch", str(batch), "--optimizer", optimizer)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "step.json"
        estimated = run(arguments.program, "estimate", *common, "--json", "--device", "gpu" if is_gpu else "cpu", "-o",
                        str(trace))["estimates"][0]
        plain = tensors_only(json.loads(trace.read_text()))
    trained = run(arguments.program, "train", *common, "--json", "--device", arguments.device, "--data", "synthetic",
                  "--steps", "2")
    row = {"model": model, "options": list(options), "batch": batch, "optimizer": optimizer,
           "measured_bytes": trained["peak_bytes"], "estimated_bytes": estimated["peak_bytes"],
           "tensors_only_bytes": plain, "mem_tracker_bytes": mem_tracker(model, options, batch, optimizer)}
    if is_gpu:
        row["measured_reserved_bytes"] = trained["reserved_peak_bytes"]
        row["estimated_reserved_bytes"] = estimated["reserved_peak_bytes"]
    return row


def error_of(row, name, measured="measured_bytes"):
    return None if row.get(name) is None else row[name] / row[measured] - 1


def summary(rows, name, measured="measured_bytes"):
    errors = sorted(abs(error_of(row, name, measured)) for row in rows if row.get(name) is not None)
    if not errors:
        return None
    return {"rows": len(errors), "median": statistics.median(errors), "p95": errors[int(0.95 * (len(errors) - 1))],
            "largest": errors[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/dev/lowtide")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", help="where the result goes, beside the table")
    arguments = parser.parse_args()
    rows = []
    print(f"{'model':14} {'batch':>5} {'optimizer':9} {'measured':>14} {'estimated':>10} {'tensors':>9} {'MemTracker':>10}")
    for model, options, cpu_batch, gpu_batch in MODELS:
        for optimizer in OPTIMIZERS:
            is_cpu = arguments.device == "cpu"
            row = measure(arguments, model, options if is_cpu else (), cpu_batch if is_cpu else gpu_batch, optimizer)
            rows.append(row)
            errors = [error_of(row, name) for name in ("estimated_bytes", "tensors_only_bytes", "mem_tracker_bytes")]
            texts = ["-" if error is None else f"{error:+.2%}" for error in errors]
            print(f"{model:14} {row['batch']:5} {optimizer:9} {row['measured_bytes']:14,} {texts[0]:>10} {texts[1]:>9} "
                  f"{texts[2]:>10}", flush=True)
    result = {"device": arguments.device, "rows": rows,
              "errors": {name: summary(rows, name) for name in ("estimated_bytes", "tensors_only_bytes",
                                                                "mem_tracker_bytes")}}
    if arguments.device != "cpu":
        result["errors"]["estimated_reserved_bytes"] = summary(rows, "estimated_reserved_bytes",
                                                               "measured_reserved_bytes")
    print(json.dumps(result["errors"], indent=1))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
