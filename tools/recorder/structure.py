# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The structure of a step: which storages its ops read, write, view and free."""

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from recorder.trace import Op, Storage
from recorder.training import Task
from recorder.watching import Watcher, execute

# Ops whose written argument does not depend on what it held, provided that they write the whole storage.
OVERWRITING = {"copy_", "zero_", "fill_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_",
               "_foreach_copy_", "_foreach_zero_"}
RUNNING_STATISTICS = ("running_mean", "running_var")


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def arguments_of(op, args, kwargs):
    """(argument of the schema, value) for every argument that was given."""
    for i, argument in enumerate(op._schema.arguments):
        if i < len(args):
            yield argument, args[i]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


def reads_shape_only(name: str) -> bool:
    return name.endswith("_like") or name.startswith("new_")


def covers_storage(tensor: torch.Tensor) -> bool:
    dense = torch.ops.aten.is_non_overlapping_and_dense(tensor)
    return dense and tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()


class StructureRecorder(Watcher):
    """Which storages each op reads, writes and views, when they die, and what workspace the op took.

    Identity is the StorageImpl, held by a weak reference, so that its address cannot be used again. `plain_names` are
    the ops of a step seen without touching storages: where that step accumulated a gradient in place, so do we.
    """

    def __init__(self, task: Task, plain_names: list[str]):
        super().__init__()
        self.task, self.plain_names_ = task, plain_names
        self.is_cuda_ = task.device.type == "cuda"
        self.ops: list[Op] = []
        self.storages: list[Storage] = []
        self.by_address_: dict[int, Storage] = {}
        self.live_: dict[Storage, None] = {}
        self.layers_: list[str] = []
        self.layer_of_node_: dict[int, str] = {}
        self.peak_allocated_bytes = 0
        self.register_sources_()
        self.hooks_ = [hook for name, module in task.model.named_modules() if name for hook in self.hook_(name, module)]

    def __exit__(self, *exception):
        super().__exit__(*exception)
        for hook in self.hooks_:
            hook.remove()

    def hook_(self, name: str, module: nn.Module):
        yield module.register_forward_pre_hook(lambda module, args: self.layers_.append(name))
        yield module.register_forward_hook(lambda module, args, output: self.layers_.pop() and None)

    def register_sources_(self) -> None:
        task = self.task
        states = [value for state in task.optimizer.state.values() for value in state.values()]
        for kind, tensors in (("parameter", task.model.parameters()), ("state", task.model.buffers()),
                              ("state", states), ("input", (task.inputs, task.labels))):
            for tensor in tensors_in(list(tensors)):
                self.find(tensor, kind)

    def find(self, tensor: torch.Tensor, kind: str = "") -> Storage | None:
        """The storage of a tensor; None if it is empty or not on the device. An unknown one is a source, if `kind`."""
        if tensor.device.type != self.task.device.type:
            return None
        untyped = tensor.untyped_storage()
        storage = self.by_address_.get(untyped._cdata)
        if storage is None and untyped.nbytes() > 0:
            storage = Storage(untyped.nbytes(), kind or "temporary", bool(kind), StorageWeakRef(untyped), self.phase)
            self.by_address_[untyped._cdata] = storage
            self.storages.append(storage)
            self.live_[storage] = None
        return storage

    def enter_phase(self, phase: str) -> None:
        self.note_deaths()
        super().enter_phase(phase)
        if phase == "backward":
            for storage in self.live_:
                if not storage.is_start:
                    storage.kind = "activation"
        if phase == "optimizer":
            for parameter in self.task.model.parameters():
                if parameter.grad is not None:
                    self.find(parameter.grad).kind = "gradient"

    def note_deaths(self) -> None:
        """Storages that died since the last look were released by what followed the last op."""
        for storage in [storage for storage in self.live_ if storage.weak.expired()]:
            del self.live_[storage]
            self.ops[-1].freed.append(storage)

    def finish(self) -> None:
        self.note_deaths()
        for storage in self.live_:
            storage.is_end = True

    def call(self, op, args, kwargs):
        self.note_deaths()
        entry = Op(op._schema.name.split("::")[-1], self.phase, self.layer_())
        self.ops.append(entry)
        op, args, kwargs = self.as_in_plain_step_(op, args, kwargs, entry)
        written = self.read_arguments_(op, args, kwargs, entry)
        known = len(self.storages)
        self.before_(entry)
        result = execute(op, args, kwargs)
        self.after_(entry)
        self.read_results_(op, result, entry, written, known)
        return result

    def as_in_plain_step_(self, op, args, kwargs, entry: Op):
        """Our wrapper of the storage keeps autograd from accumulating in place; do as the plain step did."""
        seen, plain = self.names[-1], self.plain_names_[len(self.names) - 1]
        if seen == plain:
            return op, args, kwargs
        if seen == "backward aten.add.Tensor" and plain == "backward aten.add_.Tensor":
            self.names[-1], entry.name = plain, "add_"
            return torch.ops.aten.add_.Tensor, args, kwargs
        raise RuntimeError(f"op {len(self.names) - 1} differs from the plain step: {seen}, not {plain}")

    def layer_(self) -> str:
        node = torch._C._current_autograd_node()
        if node is not None:
            return self.layer_of_node_.get(node._sequence_nr(), "")
        layer = self.layers_[-1] if self.layers_ else ""
        # Autograd makes an op's node just before it calls the op; later ops without a node see the same number.
        self.layer_of_node_.setdefault(torch.autograd._get_sequence_nr() - 1, layer)
        return layer

    def read_arguments_(self, op, args, kwargs, entry: Op) -> dict[Storage, bool]:
        """Notes the reads; returns the written storages, with whether that is a side effect."""
        is_norm = "batch_norm" in entry.name
        is_view = torch.Tag.inplace_view in op.tags
        written: dict[Storage, bool] = {}
        for argument, value in arguments_of(op, args, kwargs):
            is_statistic = is_norm and argument.name in RUNNING_STATISTICS and self.task.model.training
            is_write = argument.alias_info is not None and argument.alias_info.is_write and not is_view
            is_write |= is_statistic and "backward" not in entry.name
            for tensor in tensors_in(value):
                storage = self.find(tensor, "state")
                if storage is None:
                    continue
                if is_write:
                    written[storage] = is_statistic
                overwrites = is_write and (entry.name in OVERWRITING or argument.is_out) and covers_storage(tensor)
                if not overwrites and not reads_shape_only(entry.name):
                    entry.reads[storage] = is_statistic
        return written

    def read_results_(self, op, result, entry: Op, written: dict[Storage, bool], known: int) -> None:
        results = list(tensors_in(result))
        made = {}
        for tensor in results:
            storage = self.find(tensor)
            if storage is None or storage in written:
                continue
            if storage in self.storages[known:]:
                made[storage] = False
            else:
                entry.views[storage] = False
        entry.writes = {**written, **made}
        if entry.is_pure_view():  # touches no bytes
            entry.reads = {storage: aside for storage, aside in entry.reads.items() if storage not in entry.views}
        entry.is_random = torch.Tag.nondeterministic_seeded in op.tags
        entry.is_once = (
            (bool(written) and entry.phase == "optimizer")
            or (bool(op._schema.returns) and not results)
            or "c10d" in op.namespace or entry.name in ("set_", "resize_")
            or any(storage.is_start and not aside for storage, aside in written.items()))

    def before_(self, entry: Op) -> None:
        if self.is_cuda_:
            torch.cuda.reset_peak_memory_stats()
            stats = torch._C._cuda_memoryStats(self.task.device.index)
            entry.requested_bytes = stats["requested_bytes"]["all"]["current"]

    def after_(self, entry: Op) -> None:
        if self.is_cuda_:
            stats = torch._C._cuda_memoryStats(self.task.device.index)
            requested = stats["requested_bytes"]["all"]
            # Results are held now: what the op held beyond them at its worst moment was workspace.
            entry.workspace_bytes = max(0, requested["peak"] - max(requested["current"], entry.requested_bytes))
            self.peak_allocated_bytes = max(self.peak_allocated_bytes, stats["allocated_bytes"]["all"]["peak"])
