# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""A recorded step as data: its storages and its ops."""

import dataclasses

from torch.multiprocessing.reductions import StorageWeakRef

PREFIX = {"parameter": "p", "gradient": "g", "state": "s", "input": "x", "activation": "a", "temporary": "t",
          "workspace": "w"}


@dataclasses.dataclass(eq=False)
class Storage:
    bytes: int
    kind: str
    is_start: bool
    weak: StorageWeakRef | None
    phase: str = ""  # of the op that made it
    is_end: bool = False
    name: str = ""


@dataclasses.dataclass
class Op:
    name: str
    phase: str
    layer: str = ""
    reads: dict = dataclasses.field(default_factory=dict)  # Storage -> whether the read is a side effect (~)
    writes: dict = dataclasses.field(default_factory=dict)
    views: dict = dataclasses.field(default_factory=dict)
    freed: list = dataclasses.field(default_factory=list)
    is_once: bool = False
    is_random: bool = False
    workspace_bytes: int = 0
    requested_bytes: int = 0  # what torch's allocator held for its callers when the op began
    device_seconds: float | None = None
    host_seconds: float | None = None

    def is_pure_view(self) -> bool:
        return bool(self.views) and not self.writes

    def touches_nothing(self) -> bool:
        return not (self.reads or self.writes or self.views or self.workspace_bytes)
