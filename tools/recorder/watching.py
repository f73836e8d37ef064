# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Sees the ops of a step by a boxed fallback on the `Fake` dispatch key.

That is below autograd, as Lowtide's own runtime sees them. A TorchDispatchMode will not do: while one is active
autograd never accumulates gradients in place and saves outputs through extra detach calls.
"""

import torch

from recorder.training import Task

FAKE_KEY = torch._C._parse_dispatch_key("Fake")
FAKE_SET = torch._C.DispatchKeySet(FAKE_KEY)
LIBRARY = torch.library.Library("_", "IMPL")


class Watcher:
    """Sees every op below autograd between __enter__ and __exit__, in all threads that autograd uses. One at a time.

    A subclass overrides `call`, which must carry the op out with `execute`. Autograd's decisions to steal a gradient or
    to accumulate in place depend on reference counts, and a Python wrapper of a storage is a reference: only the
    StructureRecorder makes any.
    """

    active: "Watcher | None" = None

    def __init__(self):
        self.names: list[str] = []
        self.phase = "forward"

    def __enter__(self):
        Watcher.active = self
        self.guard_ = torch._C._IncludeDispatchKeyGuard(FAKE_KEY)
        self.guard_.__enter__()
        return self

    def __exit__(self, *exception):
        self.guard_.__exit__(*exception)
        Watcher.active = None

    def enter_phase(self, phase: str) -> None:
        self.phase = phase

    def call(self, op, args, kwargs):
        return execute(op, args, kwargs)

    def see(self, op, args, kwargs):
        if op.namespace == "profiler":
            return execute(op, args, kwargs)
        self.names.append(f"{self.phase} {op}")
        return self.call(op, args, kwargs)


def execute(op, args, kwargs):
    with torch._C._ExcludeDispatchKeyGuard(FAKE_SET), torch._C._AutoDispatchBelowAutograd():
        return op(*args, **kwargs)


LIBRARY.fallback(lambda op, *args, **kwargs: Watcher.active.see(op, args, kwargs), "Fake")


def watched_step(task: Task, watcher: Watcher) -> Watcher:
    task.synchronize()
    with watcher:
        task.step(watcher.enter_phase)
    task.synchronize()
    return watcher
