# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`lowtide run --budget 8GiB train.py ...`: a script under a budget, without an edit to it.

Also `python -m lowtide run`, and LOWTIDE_BUDGET=8GiB in the environment of any Python that has the
package installed.
"""

import argparse
import os
import pathlib
import runpy
import sys

from . import _budget, _report, _session

EXAMPLES = """examples:
  lowtide run --budget 8GiB train.py --epochs 3
  lowtide run --budget 60% -m package.train
  torchrun --nproc-per-node 2 -m lowtide run --budget 8GiB train.py
"""


def _parser():
    parser = argparse.ArgumentParser(
        prog="lowtide run", description="Runs a Python script inside a memory budget.",
        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", required=True, help="8GiB, or 60%% of the plain peak")
    parser.add_argument("--device", help="cpu, cuda, cuda:1 (default: the rank's GPU, else the CPU)")
    parser.add_argument("--means", choices=["recompute", "host", "mixed"])
    parser.add_argument("--policy", help="who plans: see `lowtide policies`")
    parser.add_argument("--host-cap", help="cap on host memory for moved values")
    parser.add_argument("--spill-dir", help="folder on a fast disk for what does not fit there")
    parser.add_argument("--spill-cap")
    parser.add_argument("--stats", action="store_true",
                        help="tell on stderr what was done, when the script has ended")
    parser.add_argument("--report", metavar="FILE.html",
                        help="write a page of what was done; under torchrun FILE-RANK.html")
    parser.add_argument("--record", metavar="FILE.json",
                        help="write down what was done, for `lowtide report`")
    parser.add_argument("--batch", type=int, help="examples a step: the report tells how many would fit")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    parser.add_argument("script", nargs="?", help="the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def prefix():
    """What messages of this process begin with: under torchrun, each tells its rank."""
    rank = os.environ.get("RANK")
    return f"lowtide[{rank}]" if rank is not None else "lowtide"


def default_device():
    """Under torchrun, each process has its own GPU."""
    import torch
    rank = os.environ.get("LOCAL_RANK")
    has_one = rank is not None and torch.cuda.is_available() and (
        int(rank) < torch.cuda.device_count())
    return f"cuda:{rank}" if has_one else None


def describe(stats):
    """One line of statistics."""
    budget = stats["budget_bytes"] or stats["peak_bytes"]
    return (f"peak {stats['peak_bytes'] / 2**20:.1f} of {budget / 2**20:.1f} MiB, "
            f"{stats['steps']} steps, {stats['evictions']} evictions, "
            f"{stats['recomputes']} recomputed, {stats['bytes_to_host'] / 2**20:.1f} MiB to the host")


def of_this_rank(path):
    """run.html; under torchrun run-0.html and so on."""
    rank = os.environ.get("RANK")
    path = pathlib.Path(path)
    return path if rank is None else path.with_name(f"{path.stem}-{rank}{path.suffix}")


def _write_reports(options):
    """Says so where there is nothing to write, or no place for it: the script is done already."""
    try:
        if options.report:
            of_this_rank(options.report).write_text(_report.last_report().html(), encoding="utf-8")
        if options.record:
            of_this_rank(options.record).write_text(_report.last_report().json, encoding="utf-8")
    except _report.NoReport:
        print(f"{prefix()}: there is no report: no second step was seen (a step ends when an "
              "optimizer of torch has made its step)", file=sys.stderr)
    except OSError as error:
        print(f"{prefix()}: {error}", file=sys.stderr)


def _wants_report(options):
    return bool(options.report or options.record)


def _run_script(options):
    if options.module is not None:
        sys.argv = [options.module, *filter(None, [options.script]), *options.arguments]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        return
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    runpy.run_path(options.script, run_name="__main__")


def run(arguments):
    """`lowtide run`; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.module is None and options.script is None:
        parser.error("name a script, or a module with -m")
    if options.module is None and not os.path.isfile(options.script):
        parser.error(f"there is no script {options.script}")
    for path in filter(None, (options.report, options.record)):
        # Hours later would be late.
        if not os.path.isdir(os.path.dirname(path) or "."):
            parser.error(f"there is no folder for {path}")
    settings = {name: getattr(options, name)
                for name in ("means", "policy", "host_cap", "spill_dir", "spill_cap", "batch")}
    try:
        _budget.enable(options.budget, device=options.device or default_device(),
                       report=_wants_report(options), **settings)
    except (ValueError, OSError, RuntimeError) as error:
        print(f"{prefix()}: {error}", file=sys.stderr)
        return 2
    process = os.getpid()
    try:
        _run_script(options)
    finally:
        # Processes that the script forks end here too.
        if os.getpid() == process:
            _end(options)
    return 0


def _end(options):
    _budget.disable()
    if options.stats:
        # In one piece: ranks share the stream.
        sys.stderr.write(f"{prefix()}: {describe(_session.memory_stats())}\n")
    if _wants_report(options):
        _write_reports(options)


def program():
    """The command line program that came with the package; None if there is none."""
    path = os.environ.get("LOWTIDE_PROGRAM") or os.path.join(os.path.dirname(__file__), "bin",
                                                             "lowtide")
    return path if os.access(path, os.X_OK) else None


def main():
    """`lowtide`: `run` here, everything else by the program in C++."""
    if sys.argv[1:2] == ["run"]:
        sys.exit(run(sys.argv[2:]))
    found = program()
    if found is None:
        print("lowtide: only `lowtide run` is here; the other verbs come with the whole package, or "
              "with a build of the sources (make demo)", file=sys.stderr)
        sys.exit(2)
    os.execv(found, [found, *sys.argv[1:]])
