# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is measured of a net, in pieces that each make one row: what CTDR chooses, how accurate the
decomposed nets are, and the memory and time of exactly those."""

import dataclasses
import json
import pathlib
import statistics
from typing import Callable

from nets import SHARES, methods_of
from program import Failed, Missing

# To begin a process, a model and a device.
BEGIN_SECONDS = 15
# To decompose a layer of 512 by 512, and to plan a step.
LARGE_LAYER_SECONDS, PLAN_SECONDS = 10, 5
# A decomposed step, one inside a budget, and both, over the plain dense one.
DECOMPOSED_COST, BUDGET_COST = 1.5, 2
# Sets of layers that CTDR looks at.
TRIALS = 24


@dataclasses.dataclass(frozen=True)
class Piece:
    """One row. `seconds`: how long it takes, as far as that is known before."""
    net: str
    part: str
    row: str
    seconds: float
    make: Callable[[], dict]


class Part:
    """What the parts of a net share."""

    def __init__(self, lowtide, results, name, net, folder):
        self.lowtide, self.results, self.name, self.net = lowtide, results, name, net
        self.folder = pathlib.Path(folder) / name
        self.policy = [] if lowtide.device == "cpu" else ["--policy", "tide"]

    def row(self, part, name):
        """A row that others need."""
        row = self.results.rows(self.name, part).get(name)
        if row is None:
            raise Missing(f"{part}: {name}")
        if "refused" in row:
            raise Failed(f"it needs '{part}: {name}': {row['refused']}")
        return row

    def piece(self, part, row, seconds, make):
        return Piece(self.name, part, row, BEGIN_SECONDS + seconds, make)

    def bytes_of(self, part, share):
        return f"{int(self.row(part, 'plain')['peak_bytes'] * share)}B"

    def forms_file(self, name, layers):
        """The forms of a row, as `lowtide --forms` takes them."""
        file = self.folder / "forms" / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(layers, indent=1) + "\n", encoding="utf-8")
        return str(file)

    def train(self, options, epochs, checkpoint):
        """Goes on from the checkpoint, if a call ended in the midst of this."""
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        found = self.lowtide("train", self.name, *options, "--epochs", str(epochs), "--checkpoint",
                             str(checkpoint), "--resume")
        return _chosen(found, "peak_bytes", "accuracy", "evaluation_loss", "step_seconds")

    def checkpoint(self, options, epochs, checkpoint):
        """The row may come from another machine: the same training gives the same checkpoint."""
        done = checkpoint.with_suffix(".done")
        if not done.exists():
            self.train(options, epochs, checkpoint)
            done.touch()
        return str(checkpoint)


class ChoicePart(Part):
    """What CTDR chooses for the net at its own input size, within its budget. The net was trained a
    little, so that what a form does to the loss means something."""

    PART = "choice"

    def pieces(self):
        net, (step, _) = self.net, self.net.step_seconds
        training = net.choice_epochs * net.epoch_steps[0] * step
        trials = TRIALS * (BEGIN_SECONDS / 3 + PLAN_SECONDS + 5 * DECOMPOSED_COST * step)
        return [self.piece(self.PART, "plain", 20 * step, self._plain),
                self.piece(self.PART, "ctdr", training + trials + 2 * self._layers(), self._choose)]

    def _layers(self):
        return self.net.large_layers * LARGE_LAYER_SECONDS

    def _plain(self):
        return _chosen(self.lowtide("train", self.name, *self.net.memory, "--steps", "20"),
                       "peak_bytes", "step_seconds")

    def _choose(self):
        started = self.checkpoint(self.net.memory, self.net.choice_epochs, self.folder / "started")
        budget = self.bytes_of(self.PART, self.net.budget)
        # Nothing is trained, and any loss is allowed: the forms are what counts.
        return decomposed_row(self.lowtide(
            "decompose", self.name, *self.net.memory, "--checkpoint", started, "--budget", budget,
            *(["--rank", self.net.rank] if self.net.rank else []), *self.policy, "--think", str(PLAN_SECONDS), "--epochs", "0", "--raises", "0",
            "--max-accuracy-loss", "100", "--untrained"))


class AccuracyPart(Part):
    """Accuracy before, after decomposing and after fine-tuning, with one seed, from one checkpoint of
    the dense net: with every layer decomposed that can be, and in the forms that CTDR chose."""

    def __init__(self, lowtide, results, name, net, folder, seed):
        super().__init__(lowtide, results, name, net, folder)
        self.part = part_of_seed(seed)
        self._options = [*net.accuracy, "--seed", seed]
        self._checkpoint = self.folder / f"seed_{seed}"

    def pieces(self):
        net, (_, step) = self.net, self.net.step_seconds
        tuning = net.tuning_epochs * net.epoch_steps[1] * DECOMPOSED_COST * step
        layers = net.large_layers * LARGE_LAYER_SECONDS
        pieces = [self.piece(self.part, "plain", net.epochs * net.epoch_steps[1] * step, self._plain)]
        for method, options in methods_of(net).items():
            pieces.append(self.piece(self.part, f"{method} alone", tuning + layers,
                                     lambda o=options: self._decompose(*o, "--raises", "0")))
        pieces.append(self.piece(self.part, "ctdr", layers + 2 * BUDGET_COST * tuning, self._ctdr))
        return pieces

    def _plain(self):
        row = self.train(self._options, self.net.epochs, self._checkpoint)
        self._checkpoint.with_suffix(".done").touch()
        return row

    def _ctdr(self):
        layers = self.row(ChoicePart.PART, "ctdr")["layers"]
        return self._decompose("--forms", self.forms_file("chosen", layers), "--raises", "1", "--budget",
                               self.bytes_of(self.part, self.net.budget), *self.policy)

    def _decompose(self, *options):
        checkpoint = self.checkpoint(self._options, self.net.epochs, self._checkpoint)
        return decomposed_row(self.lowtide(
            "decompose", self.name, *self._options, "--checkpoint", checkpoint, *options, "--epochs",
            str(self.net.tuning_epochs), "--max-accuracy-loss", "0.5", "--untrained", allowed=(0, 1)))


class MemoryPart(Part):
    """Peak, by kind; step time inside one budget after another; the largest batch; the smallest budget:
    of the dense net, and of nets in the very forms whose accuracy was measured with the first seed, at
    the net's own input size. Their factors are random numbers: neither memory nor time depends on what
    they are. All are planned by the same policy in the same bytes, and measured in turns."""

    PART = "memory"

    def __init__(self, lowtide, results, name, net, folder, turns):
        super().__init__(lowtide, results, name, net, folder)
        self._turns = turns

    def pieces(self):
        pieces = [self._piece(variant, "peak", 10 * self.net.step_seconds[0] + 2 * PLAN_SECONDS,
                              lambda v=variant: self._peak(v)) for variant in self._variants()]
        for turn in range(1, self._turns + 1):
            for index, shares in enumerate(SHARES):
                # Those who decompose everything are no rivals: they are set beside CTDR around its budget.
                pieces += [self._curve_piece(variant, turn, index, shares)
                           for variant in self._variants()
                           if self.net.budget in shares or not variant.endswith("alone")]
        for variant in self._variants():
            pieces.append(self._piece(variant, "largest batch", 120, lambda v=variant: self._largest(v)))
            pieces.append(self._piece(variant, "smallest budget", 60,
                                      lambda v=variant: self._smallest(v)))
        return pieces

    def _variants(self):
        return ["dense", "recompute", *(f"{method} alone" for method in methods_of(self.net)), "ctdr"]

    def _piece(self, variant, what, seconds, make):
        cost = 1 if variant in ("dense", "recompute") else DECOMPOSED_COST
        return self.piece(self.PART, f"{variant}, {what}", cost * seconds, make)

    def _curve_piece(self, variant, turn, index, shares):
        step = self.net.step_seconds[0]
        runs = ROUNDS * (1 + len(shares))
        seconds = runs * (BEGIN_SECONDS / 5 + PLAN_SECONDS + BUDGET_COST * CURVE_STEPS * step)
        return self._piece(variant, f"turn {turn}, budgets {index + 1}", seconds,
                           lambda: self._curve(variant, shares))

    def _means(self, variant):
        return ["--tiers", "none"] if variant == "recompute" else []

    def _forms(self, variant):
        """The options that make the variant of the net."""
        if variant in ("dense", "recompute"):
            return []
        row = self.row(part_of_seed(self.net.seeds[0]), variant)
        return ["--forms", self.forms_file(variant.replace(" ", "_"), row["layers"])]

    def _bytes(self, share):
        return self.bytes_of(ChoicePart.PART, share)

    def _peak(self, variant):
        """Of a step that was captured, as it is and, by the simulator, planned for CTDR's budget."""
        trace = str(self.folder / "step.trace")
        self.folder.mkdir(parents=True, exist_ok=True)
        found = self.lowtide("profile", self.name, *self.net.memory, *self._forms(variant), "-o", trace)
        row = _chosen(found, "plain_peak_bytes", "peak_bytes_by_kind")
        swap = ["--option", "swap=no"] if variant == "recompute" else []
        planned = self.lowtide.plan("simulate", trace, "--policy", "tide", *swap, "--timeline",
                                    "--budget", self._bytes(self.net.budget), allowed=(0, 3))
        row["budget_bytes"] = planned["budget_bytes"]
        if planned.get("refused"):
            row["smallest_plan_bytes"] = planned["smallest_budget_bytes"]
            return row
        row["planned_peak_bytes"] = planned["peak_bytes"]
        row["planned_bytes_by_kind"] = next(tick["bytes"] for tick in planned["timeline"]
                                            if tick["op"] == planned["peak_op"]["op"])
        return row

    def _curve(self, variant, shares):
        # 1 and 3: some or all budgets cannot be kept, which is told for each.
        found = self.lowtide("compare", self.name, *self.net.memory, *self._forms(variant),
                             *self._means(variant), *self.policy, "--measure", "--budgets",
                             ",".join(map(self._bytes, shares)), "--rounds", str(ROUNDS), "--steps",
                             str(TIMED_STEPS), "--untimed-steps", str(CURVE_STEPS - TIMED_STEPS),
                             allowed=(0, 1, 3))
        return _chosen(found, "plain_peak_bytes", "plain_step_seconds", "plain_step_seconds_by_round",
                       "identical", "budgets")

    def _largest(self, variant):
        found = self.lowtide("max-batch", self.name, *without_batch(self.net.memory),
                             *self._forms(variant), *self._means(variant), "--budget",
                             self.net.batch_budget)
        return _chosen(found, "budget_bytes", "plain", "managed", "fastest")

    def _smallest(self, variant):
        """Refused a twentieth, the program looks for what it can keep, and names it."""
        least = self._bytes(0.05)
        try:
            self.lowtide("train", self.name, *self.net.memory, *self._forms(variant),
                         *self._means(variant), *self.policy, "--steps", "3", "--budget", least)
        except Failed as refusal:
            found = str(refusal).rpartition("--budget ")[2]
            if found.isdigit():
                return {"budget_bytes": int(found)}
            raise
        return {"budget_bytes": int(least[:-1]), "is_less": True}


# Of a measured curve; plans are made and waited for in the first steps, which are not timed.
ROUNDS, TIMED_STEPS, CURVE_STEPS = 2, 10, 25


def part_of_seed(seed):
    return f"accuracy, seed {seed}"


def _chosen(figures, *keys):
    return {key: figures.get(key) for key in (*keys, "command", "wall_seconds")}


def decomposed_row(figures):
    row = _chosen(figures, "parameters_before", "parameters", "accuracy_before",
                  "accuracy_after_decomposition", "accuracy_after_fine_tuning", "loss_before",
                  "loss_after_decomposition", "loss_after_fine_tuning", "accuracy_is_back",
                  "fine_tuning_steps", "fine_tuning_seconds", "peak_bytes", "budget_bytes", "raises")
    row["captured"] = {name: {key: figures[name].get(key) for key in (
        "plain_peak_bytes", "plain_bytes", "plain_step_seconds", "planned_step_seconds")}
                       for name in ("dense", "chosen")}
    row["layers"] = {layer["layer"]: layer["form"] for layer in figures["layers"]}
    row["reasons"] = {layer["layer"]: layer["reason"] for layer in figures["layers"]}
    return row


def without_batch(options):
    """max-batch finds the batch."""
    at = options.index("--batch")
    return (*options[:at], *options[at + 2:])


def was_tried(rows, variant, budget_bytes):
    """Whether a row tells of the budget, be it that it cannot be kept."""
    return any(point["budget_bytes"] == budget_bytes for name, row in rows.items()
               if name.startswith(f"{variant}, turn ") for point in row.get("budgets", ()))


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
