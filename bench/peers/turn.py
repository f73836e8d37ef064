# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""One mode's turn: a fresh model, some steps to warm up and some timed ones, and what they took."""

import contextlib
import functools
import gc
import hashlib
import statistics
import time

import torch

from workloads import Training

# A steady step of plain training holds as much as later ones: its optimizer's states are there.
STEPS_OF_A_PEAK = 2


def saving_on_host(device):
    return functools.partial(torch.autograd.graph.save_on_cpu, pin_memory=device == "cuda")


def prepare_compiled(training, mode):
    """compile, compile-0.5, compile-blocks, compile-blocks-0.5."""
    import torch._dynamo as dynamo  # pylint: disable=import-outside-toplevel  (takes a second)
    import torch._functorch.config as functorch  # pylint: disable=import-outside-toplevel
    dynamo.reset()
    share = mode.removeprefix("compile").removeprefix("-blocks").removeprefix("-")
    functorch.activation_memory_budget = float(share or 1)
    training.compile(by_blocks="blocks" in mode)


def budget_bytes_of(mode, plain_peak_bytes):
    """What lowtide-60 is in bytes; None for other modes."""
    if not mode.startswith("lowtide-"):
        return None
    if plain_peak_bytes is None:
        raise RuntimeError("no plain turn has told yet what 100 % is")
    return int(float(mode.removeprefix("lowtide-")) / 100 * plain_peak_bytes)


def bits_of(tensors):
    """A digest of the sums of each tensor's bits, added up where the tensor lies."""
    digest = hashlib.sha256()
    for tensor in tensors:
        words = {4: torch.int32, 8: torch.int64}[tensor.element_size()]
        total = tensor.detach().reshape(-1).view(words).sum(dtype=torch.int64)
        digest.update(str(total.item()).encode())
    return digest.hexdigest()[:16]


class Turn:
    def __init__(self, model, mode, size, device, warm_up, steps):
        self.model, self.mode, self.size, self.device = model, mode, size, device
        self.warm_up, self.steps = warm_up, steps
        self.found = {}

    def run(self, plain_peak_bytes):
        """Returns what is to be known of the turn, as it goes into the JSON."""
        self._clean()
        budget = budget_bytes_of(self.mode, plain_peak_bytes)
        start = time.perf_counter()
        if budget is None:
            training = Training(self.model, self.size, self.device)
            self._train(training)
        else:
            training = self._train_in(budget)
        self.found["seconds"] = time.perf_counter() - start
        self.found["parameters"] = bits_of(training.model.parameters())
        self.found["buffers"] = bits_of(training.model.buffers())
        return self.found

    def _train_in(self, budget):
        import lowtide  # pylint: disable=import-outside-toplevel  (plain modes do without it)
        # Training waits for a plan, which else is made beside it and comes some steps later.
        with lowtide.budget(budget, device=self.device, wait_for_plans=True) as opened:
            training = Training(self.model, self.size, self.device)
            self._train(training, opened.stats)
            stats = opened.stats()
        self.found["budget_bytes"] = budget
        self.found["stats"] = {name: value for name, value in stats.items() if value}
        if self.device == "cpu":
            self.found["allocated_peak_bytes"] = stats["peak_bytes"]
        return training

    def _train(self, training, stats=None):
        saved = contextlib.nullcontext
        if self.mode == "checkpoint":
            training.checkpoint_blocks()
        elif self.mode == "save_on_cpu":
            saved = saving_on_host(self.device)
        elif self.mode.startswith("compile"):
            prepare_compiled(training, self.mode)
        losses, seconds = [], []
        for _ in range(self.warm_up + self.steps):
            if len(losses) == self.warm_up and stats:
                self.found["stats_after_warm_up"] = stats()
            loss, took = self._timed(training, saved)
            losses.append(loss)
            seconds.append(took)
        self.found["losses"] = [loss.hex() for loss in losses]
        self.found["warm_up_seconds"] = seconds[:self.warm_up]
        self.found["step_seconds"] = seconds[self.warm_up:]
        self.found["median_seconds"] = statistics.median(seconds[self.warm_up:])
        if self.device == "cuda":
            self.found["allocated_peak_bytes"] = torch.cuda.max_memory_allocated()
            self.found["reserved_peak_bytes"] = torch.cuda.max_memory_reserved()

    def _timed(self, training, saved):
        self._synchronize()
        start = time.perf_counter()
        loss = training.step(saved)
        self._synchronize()
        took = time.perf_counter() - start
        return loss.item(), took

    def _synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def _clean(self):
        gc.collect()  # Optimizers are parts of cycles.
        if self.device == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


def peak_without_counters(model, size):
    """What plain training holds on a CPU, where torch does not count: by a session without a budget."""
    import lowtide  # pylint: disable=import-outside-toplevel
    session = lowtide.Session(device="cpu")
    try:
        training = Training(model, size, "cpu")
        for _ in range(STEPS_OF_A_PEAK):
            training.step()
        return session.stats()["peak_bytes"]
    finally:
        session.close()
