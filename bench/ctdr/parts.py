# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is measured of a net: memory and time from weights as they begin, and accuracy."""

import pathlib
import statistics

from nets import SHARES, methods_of
from program import Failed

# Any loss is allowed and nothing is trained: the forms are what counts.
UNTRAINED = ("--epochs", "0", "--raises", "0", "--max-accuracy-loss", "100")


class MemoryPart:
    """Peak, step time inside one budget after another, and the largest batch, of the dense net and of
    the decomposed ones. All are planned by the same policy in the same bytes; `compare --measure` waits
    for plans and leaves the steps out in which they are made. Variants are measured in turns."""

    part = "memory"

    def __init__(self, lowtide, results, name, net, folder, turns):
        self._lowtide, self._results, self._name, self._net = lowtide, results, name, net
        self._folder, self._turns = pathlib.Path(folder) / name / "memory", turns
        self._policy = [] if lowtide.device == "cpu" else ["--policy", "tide"]

    def run(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        plain = self._row("plain", self._plain)
        if "refused" in plain:
            return
        variants = {"dense": [], "recompute": ["--tiers", "none"]}
        for method, options in methods_of(self._net).items():
            self._decomposed(variants, f"{method} alone", options)
        self._decomposed(variants, "ctdr", ["--budget", self._bytes(plain, self._net.budget),
                                            *self._policy])
        for turn in range(1, self._turns + 1):
            for variant, options in variants.items():
                self._row(f"{variant}, turn {turn}", lambda o=options: self._curve(plain, o))
        for variant, options in variants.items():
            if variant != "recompute":
                self._row(f"{variant}, largest batch", lambda o=options: self._largest(o))
                self._row(f"{variant}, smallest budget", lambda o=options: self._smallest(plain, o))

    def _row(self, name, make):
        return self._results.get(self._name, self.part, name, make)

    def _bytes(self, plain, share):
        return f"{int(plain['peak_bytes'] * share)}B"

    def _plain(self):
        return _chosen(self._lowtide("train", self._name, *self._net.memory, "--steps", "20"),
                       "peak_bytes", "step_seconds")

    def _decomposed(self, variants, variant, options):
        """Makes the weights of a variant, of which only forms and sizes count."""
        file = self._folder / (variant.replace(" ", "_") + ".safetensors")
        def make():
            started = self._folder / "dense"
            if not started.exists():
                self._lowtide("train", self._name, *self._net.memory, "--steps", "1",
                              "--checkpoint", str(started))
            return decomposed_row(self._lowtide(
                "decompose", self._name, *self._net.memory, "--checkpoint", str(started), *options,
                *UNTRAINED, "-o", str(file)))
        row = self._row(f"{variant}, forms", make)
        if "refused" in row:
            return
        if not file.exists():
            # Another machine: the same forms from the row would do, but making them anew is simpler.
            del self._results.rows(self._name, self.part)[f"{variant}, forms"]
            row = self._row(f"{variant}, forms", make)
        variants[variant] = ["--weights", str(file)]

    def _curve(self, plain, options):
        budgets = ",".join(self._bytes(plain, share) for share in SHARES)
        # 1 and 3: some or all budgets cannot be kept, which is told for each.
        found = self._lowtide("compare", self._name, *self._net.memory, *options, *self._policy,
                              "--measure", "--budgets", budgets, "--rounds", "3", "--steps", "10",
                              "--untimed-steps", "15", allowed=(0, 1, 3))
        return _chosen(found, "plain_peak_bytes", "plain_step_seconds",
                       "plain_step_seconds_by_round", "identical", "budgets")

    def _largest(self, options):
        found = self._lowtide("max-batch", self._name, *without_batch(self._net.memory), *options,
                              "--budget", self._net.batch_budget)
        return _chosen(found, "budget_bytes", "plain", "managed", "fastest")

    def _smallest(self, plain, options):
        """Refused a twentieth, the program looks for what it can keep, and names it."""
        try:
            self._lowtide("train", self._name, *self._net.memory, *options, *self._policy,
                          "--steps", "3", "--budget", self._bytes(plain, 0.05))
        except Failed as refusal:
            found = str(refusal).rpartition("--budget ")[2]
            if found.isdigit():
                return {"budget_bytes": int(found)}
            raise
        return {"budget_bytes": int(plain["peak_bytes"] * 0.05), "is_less": True}


class AccuracyPart:
    """Accuracy before, after decomposing and after fine-tuning, with one seed, from one checkpoint of
    the dense net; CTDR within its budget."""

    def __init__(self, lowtide, results, name, net, folder, seed):
        self._lowtide, self._results, self._name, self._net = lowtide, results, name, net
        self.part = f"accuracy, seed {seed}"
        self._options = [*net.accuracy, "--seed", seed]
        self._checkpoint = pathlib.Path(folder) / name / f"seed_{seed}"

    def run(self):
        rows = self._results.rows(self._name, self.part)
        if "plain" in rows and not self._checkpoint.exists():
            # The rows come from another machine: the same training gives the same checkpoint.
            if not self._is_done(rows):
                self._train()
        plain = self._row("plain", self._train)
        if "refused" in plain:
            return
        for method, options in methods_of(self._net).items():
            self._row(f"{method} alone", lambda o=options: self._decompose(*o, "--raises", "0"))
        budget = f"{int(plain['peak_bytes'] * self._net.budget)}B"
        policy = [] if self._lowtide.device == "cpu" else ["--policy", "tide"]
        self._row("ctdr", lambda: self._decompose("--budget", budget, *policy))

    def _row(self, name, make):
        return self._results.get(self._name, self.part, name, make)

    def _is_done(self, rows):
        return all(f"{method} alone" in rows for method in methods_of(self._net)) and "ctdr" in rows

    def _train(self):
        found = self._lowtide("train", self._name, *self._options, "--epochs", str(self._net.epochs),
                              "--checkpoint", str(self._checkpoint), "--resume")
        return _chosen(found, "peak_bytes", "accuracy", "evaluation_loss")

    def _decompose(self, *options):
        return decomposed_row(self._lowtide(
            "decompose", self._name, *self._options, "--checkpoint", str(self._checkpoint), *options,
            "--epochs", str(self._net.tuning_epochs), "--max-accuracy-loss", "0.5", allowed=(0, 1)))


def _chosen(figures, *keys):
    return {key: figures.get(key) for key in (*keys, "command", "wall_seconds")}


def decomposed_row(figures):
    row = _chosen(figures, "parameters_before", "parameters", "accuracy_before",
                  "accuracy_after_decomposition", "accuracy_after_fine_tuning", "loss_before",
                  "loss_after_decomposition", "loss_after_fine_tuning", "accuracy_is_back",
                  "fine_tuning_steps", "fine_tuning_seconds", "peak_bytes", "budget_bytes", "raises")
    row["captured"] = {name: {key: figures[name][key] for key in ("plain_peak_bytes", "plain_bytes")}
                       for name in ("dense", "chosen")}
    row["layers"] = {layer["layer"]: layer["form"] for layer in figures["layers"]}
    row["reasons"] = {layer["layer"]: layer["reason"] for layer in figures["layers"]}
    return row


def without_batch(options):
    """max-batch finds the batch."""
    at = options.index("--batch")
    return (*options[:at], *options[at + 2:])


def step_seconds(rows, variant, budget_bytes):
    """The median over all turns, and their least and most, of a variant inside a budget; None if it
    cannot be kept. budget_bytes 0: plainly."""
    seconds = []
    for name, row in rows.items():
        if not name.startswith(f"{variant}, turn ") or "refused" in row:
            continue
        if budget_bytes == 0:
            seconds.append(row["plain_step_seconds"])
        seconds += [point["step_seconds"] for point in row["budgets"]
                    if point["budget_bytes"] == budget_bytes and not point["refused"]]
    return (statistics.median(seconds), min(seconds), max(seconds)) if seconds else None
