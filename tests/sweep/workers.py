# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Sweeps ops in processes of their own, so that one that crashes only ends its own op."""

import collections
import multiprocessing
import multiprocessing.connection
import os
import resource
import time
import warnings

import torch

import samples
import sweeps

WORKERS = int(os.environ.get("LT_SWEEP_WORKERS", "2"))
MOST_SECONDS = 120


class Findings:
    """What came of all ops."""

    def __init__(self):
        # (op, sweep) -> messages
        self.messages = collections.defaultdict(list)
        # Name of a form -> samples that were compared.
        self.samples = collections.Counter()
        # What the sessions did, all together, and for each op.
        self.counts = collections.Counter()
        self.counts_of = {}
        # Op -> samples that do not work without a session either.
        self.skipped = {}
        # Operators underneath: (name, overload); and (name, overload, argument) that changed, and
        # that our table has as a hidden write. The parent may not know an operator at all: torch
        # 2.15 makes some in Python when they are first called.
        self.reached = set()
        self.changed = set()
        self.hidden = set()
        self.operators = 0

    def take(self, name, report):
        for sweep, message in report.messages:
            self.messages[name, sweep].append(message)
        self.samples.update(report.samples)
        self.counts.update(report.counts)
        if report.samples:
            self.counts_of[name] = report.counts
        if report.skipped:
            self.skipped[name] = report.skipped
        self.reached |= report.reached
        self.changed |= report.changed
        self.hidden |= report.hidden


class Report:
    """What a worker found about one op; it travels to the parent when the op is done."""

    def __init__(self, pipe):
        self._pipe = pipe
        self.place = ""
        self.messages = []
        self.samples = collections.Counter()
        self.counts = collections.Counter()
        self.skipped = []
        self.reached = set()
        self.changed = set()
        self.hidden = set()

    def __getstate__(self):
        return {key: value for key, value in vars(self).items() if key != "_pipe"}

    def at(self, sweep):
        self._pipe.send((sweep, self.place))

    def add(self, sweep, message):
        self.messages.append((sweep, f"{self.place}: {message}"))

    def log(self, log):
        self.reached |= log.reached
        self.changed |= log.changed
        self.hidden |= log.hidden

    def count(self, form):
        self.samples[form] += 1

    def skip(self, message):
        self.skipped.append(message)


def work(pipe, operators):
    """The body of a worker: sweeps the ops whose names it is sent."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    while (name := pipe.recv()) is not None:
        report = Report(pipe)
        try:
            sweeps.sweep_operator(operators[name], name, report)
        except Exception as error:
            report.add("host", f"the sweep itself failed: {sweeps.first_line(error)}")
        pipe.send(("done", report))


class Worker:
    """One process and the op it is at."""

    def __init__(self, operators):
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, operators), daemon=True)
        self.process.start()
        theirs.close()
        self.name = None
        self.place = ("host", "before the first sample")
        self.started = 0

    def give(self, name):
        self.name, self.started = name, time.monotonic()
        self.place = ("host", "before the first sample")
        self.pipe.send(name)

    def is_late(self):
        return self.name is not None and time.monotonic() - self.started > MOST_SECONDS

    def end(self):
        """Ends the process if need be; how it ended."""
        if self.process.is_alive() and self.is_late():
            self.process.kill()
        self.process.join()
        self.pipe.close()
        code = self.process.exitcode
        return f"ended by signal {-code}" if code < 0 else f"ended with {code}"


class Crew:
    """Hands ops to workers until all are done."""

    def __init__(self, operators):
        self._operators = operators
        self._waiting = list(reversed(operators))
        self._busy = {}
        self.findings = Findings()

    def run(self):
        for _ in range(min(WORKERS, len(self._waiting))):
            self._employ(Worker(self._operators))
        while self._busy:
            ready = multiprocessing.connection.wait(list(self._busy), timeout=5)
            for pipe in ready:
                self._listen(self._busy[pipe])
            for worker in [each for each in self._busy.values() if each.is_late()]:
                self._lose(worker)
        return self.findings

    def _employ(self, worker):
        self._busy.pop(worker.pipe, None)
        if self._waiting:
            self._busy[worker.pipe] = worker
            worker.give(self._waiting.pop())
        else:
            worker.pipe.send(None)
            worker.process.join()

    def _listen(self, worker):
        try:
            what, content = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._lose(worker)
            return
        if what != "done":
            worker.place = (what, content)
            return
        self.findings.operators += 1
        self.findings.take(worker.name, content)
        self._employ(worker)

    def _lose(self, worker):
        self._busy.pop(worker.pipe)
        sweep, place = worker.place
        self.findings.operators += 1
        self.findings.messages[worker.name, sweep].append(f"{place}: {worker.end()}")
        if self._waiting:
            self._employ(Worker(self._operators))


def sweep(names=None):
    """Sweeps all ops, or those of these names."""
    operators = samples.operators()
    if names:
        operators = {name: operators[name] for name in names}
    return Crew(operators).run()
