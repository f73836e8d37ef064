# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""What is measured of a net, in pieces that each make one row: what CTDR chooses, how accurate the
decomposed nets are, and the memory and time of exactly those."""

import dataclasses
import json
import os
import pathlib
import statistics
import threading
from typing import Callable

from nets import methods_of
from program import Failed, Missing

# To begin a process and a device, and to open the data.
BEGIN_SECONDS = 6
# To plan a step, and how long `lowtide` may think about one.
PLAN_SECONDS = 2
# To decompose a layer of 512 by 512.
LARGE_LAYER_SECONDS = 4
# Sweeps of CP: all 300 take a layer of 512 by 512 ten seconds on a GPU and an hour on two cores; after
# 40 its error is within 5 % of theirs.
CP_SWEEPS = 40
# A decomposed step, one inside a budget, and both, over the plain dense one.
DECOMPOSED_COST, BUDGET_COST = 1.5, 2
# Sets of layers that CTDR looks at.
TRIALS = 14
# How often it raises ranks, or makes layers dense again, where the accuracy is not back.
RAISES = 2
# Of the dense net's plain peak, where no choice keeps the budget.
LARGER_SHARES = (0.6, 0.8, 0.95)
# Of a measured curve; plans are made and waited for in the first steps, which are not timed.
TIMED_STEPS, CURVE_STEPS = 6, 16
# Of the two nets that only recomputing and CTDR are set beside each other at.
RECOMPUTE_SHARES = (0.6, 0.4)
# The largest batch is found to within this share, in so many tries.
BATCH_SLACK, BATCH_TRIES = 0.125, 8
# `lowtide decompose` fine-tunes at this share of the rate that it is given.
RATE_SHARE = 0.1
LOOK_LITTLE = ("--think", str(PLAN_SECONDS), "--trials", str(TRIALS), "--cp-sweeps", str(CP_SWEEPS))
_WRITING, _TRAINING = threading.Lock(), threading.Lock()
# Kinds of pieces. Those of the first take the machine for themselves, since their times count.
TIMED_KINDS = ("choice", "curves")
KINDS = ("choice", "accuracy", "sizes", "curves")


@dataclasses.dataclass(frozen=True)
class Piece:
    """One row. `seconds`: how long it takes, as far as that is known before. `is_claim`: one of those
    that tell whether CTDR's step is faster in the same budget, with the same accuracy."""
    net: str
    part: str
    row: str
    seconds: float
    make: Callable[[], dict]
    kind: str = "sizes"
    is_claim: bool = False


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

    def piece(self, kind, part, row, seconds, make, is_claim=False):
        return Piece(self.name, part, row, BEGIN_SECONDS + self.net.model_seconds + seconds, make, kind,
                     is_claim)

    def bytes_of(self, part, share):
        return f"{int(self.row(part, 'plain')['peak_bytes'] * share)}B"

    def budget(self):
        """That for which CTDR chose."""
        return f"{self.row(ChoicePart.PART, 'ctdr')['budget_bytes']}B"

    def forms_file(self, name, layers):
        """The forms of a row, as `lowtide --forms` takes them."""
        file = self.folder / "forms" / f"{name.replace(' ', '_')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        # Another lane may be about to read it.
        with _WRITING:
            beside = file.with_suffix(".part")
            beside.write_text(json.dumps(layers, indent=1) + "\n", encoding="utf-8")
            os.replace(beside, file)
        return str(file)

    def train(self, options, epochs, checkpoint):
        """Goes on from the checkpoint, if a call ended in the midst of this."""
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        found = self.lowtide("train", self.name, *options, "--lr", str(self.net.rate), "--schedule",
                             "cosine", "--warmup", str(self.net.warm_up), "--epochs", str(epochs),
                             "--checkpoint", str(checkpoint), "--checkpoint-every", "100000", "--resume")
        return _chosen(found, "peak_bytes", "accuracy", "evaluation_loss", "step_seconds", "steps")

    def checkpoint(self, options, epochs, checkpoint):
        """The row may come from another machine: the same training gives the same checkpoint."""
        done = checkpoint.with_suffix(".done")
        # Another lane may need it, too.
        with _TRAINING:
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
        trials = TRIALS * (net.model_seconds + PLAN_SECONDS + 5 * DECOMPOSED_COST * step)
        layers = 2 * net.large_layers * LARGE_LAYER_SECONDS
        return [self.piece("choice", self.PART, "plain", 20 * step, self._plain, net.is_claimed),
                self.piece("choice", self.PART, "ctdr", training + trials + layers, self._choose,
                           net.is_claimed)]

    def _plain(self):
        return _chosen(self.lowtide("train", self.name, *self.net.memory, "--steps", "20"),
                       "peak_bytes", "step_seconds")

    def _choose(self):
        started = self.checkpoint(self.net.memory, self.net.choice_epochs, self.folder / "started")
        refusals = {}
        # Where no choice keeps the budget, one for a larger budget is better than none.
        for share in (self.net.budget, *(more for more in LARGER_SHARES if more > self.net.budget)):
            budget = self.bytes_of(self.PART, share)
            try:
                # Nothing is trained, and any loss is allowed: the forms are what counts.
                row = decomposed_row(self.lowtide(
                    "decompose", self.name, *self.net.memory, "--checkpoint", started, "--budget", budget,
                    *(["--rank", self.net.rank] if self.net.rank else []), *self.policy, *LOOK_LITTLE,
                    "--epochs", "0", "--raises", "0", "--max-accuracy-loss", "100", "--untrained"))
                return row | ({"refused_budgets": refusals} if refusals else {})
            except Failed as refusal:
                refusals[budget] = str(refusal)
        raise Failed(next(iter(refusals.values())))


class AccuracyPart(Part):
    """Accuracy before, after decomposing and after fine-tuning, with one seed, from one checkpoint of
    the dense net: with every layer decomposed that can be, and in the forms that CTDR chose; and of
    the dense net, trained on just as those were fine-tuned."""

    def __init__(self, lowtide, results, name, net, folder, seed):
        super().__init__(lowtide, results, name, net, folder)
        self.part = part_of_seed(seed)
        self._is_first = net.is_claimed and seed == net.seeds[0]
        self._options = [*net.accuracy, "--seed", seed]
        self._checkpoint = self.folder / f"seed_{seed}"
        # Of the tuning: the program takes a tenth of it.
        self._tuning_rate = f"{net.tuning_rate / RATE_SHARE:g}"

    def pieces(self):
        net, (_, step) = self.net, self.net.step_seconds
        tuning = net.tuning_epochs * net.epoch_steps[1] * step
        layers = net.large_layers * LARGE_LAYER_SECONDS
        trial = 2 * (net.model_seconds + 10 * step)
        return [
            self._piece("plain", net.epochs * net.epoch_steps[1] * step, self._plain, True),
            self._piece("ctdr", trial + layers + 2 * BUDGET_COST * tuning, self._ctdr, True),
            self._piece("plain, further epochs", BEGIN_SECONDS + trial + tuning, self._further, True),
            *(self._piece(f"{method} alone", trial + DECOMPOSED_COST * tuning + layers,
                          lambda o=options: self._decompose(*o, "--raises", "0"))
              for method, options in methods_of(net).items())]

    def _piece(self, row, seconds, make, is_claim=False):
        return self.piece("accuracy", self.part, row, seconds, make, is_claim and self._is_first)

    def _plain(self):
        row = self.train(self._options, self.net.epochs, self._checkpoint)
        self._checkpoint.with_suffix(".done").touch()
        return row

    def _further(self):
        """The weights alone, as the others start: from new states of the optimizer."""
        weights = self._checkpoint.with_suffix(".safetensors")
        self._run_decompose("--forms", self.forms_file(f"none {self.part}", {}), "-o", str(weights), epochs=0)
        found = self.lowtide("train", self.name, *self._options, "--weights", str(weights), "--lr",
                             str(self.net.tuning_rate), "--schedule", "cosine", "--epochs",
                             str(self.net.tuning_epochs))
        weights.unlink(missing_ok=True)
        return _chosen(found, "peak_bytes", "accuracy", "evaluation_loss", "step_seconds", "steps")

    def _ctdr(self):
        layers = self.row(ChoicePart.PART, "ctdr")["layers"]
        options = ("--forms", self.forms_file(f"chosen {self.part}", layers), "--raises", str(RAISES))
        share = self.net.tuning_budget
        if not share:
            return self._decompose(*options)
        try:
            return self._decompose(*options, "--budget", self.bytes_of(self.part, share), *self.policy)
        except Failed as refusal:
            return self._decompose(*options) | {"refused_budget": str(refusal)}

    def _decompose(self, *options):
        return decomposed_row(self._run_decompose(*options, epochs=self.net.tuning_epochs))

    def _run_decompose(self, *options, epochs):
        checkpoint = self.checkpoint(self._options, self.net.epochs, self._checkpoint)
        return self.lowtide(
            "decompose", self.name, *self._options, "--checkpoint", checkpoint, *options, *LOOK_LITTLE,
            "--lr", self._tuning_rate, "--epochs", str(epochs), "--max-accuracy-loss", "0.5",
            "--untrained", allowed=(0, 1))


class MemoryPart(Part):
    """Peak, by kind; step time inside one budget after another; the largest batch; the smallest budget:
    of the dense net, and of nets in the very forms whose accuracy was measured with the first seed, at
    the net's own input size. Their factors are random numbers: neither memory nor time depends on what
    they are. All are planned by the same policy in the same bytes, and measured in turns. Those who
    decompose everything are no rivals: they are measured as they are, without a plan."""

    PART = "memory"

    def __init__(self, lowtide, results, name, net, folder, turns):
        super().__init__(lowtide, results, name, net, folder)
        self._turns = turns

    def pieces(self):
        return [*self._sizes(), *self._curves()]

    def _sizes(self):
        net = self.net
        tried = net.model_seconds + 8 * BUDGET_COST * net.step_seconds[0]
        pieces = []
        if net.is_claimed:
            pieces = [self._size(variant, "smallest budget", 8 * tried, lambda v=variant: self._smallest(v))
                      for variant in ("dense", "ctdr")]
        for variant in self._variants():
            pieces.append(self._size(variant, "peak", 10 * net.step_seconds[0] + PLAN_SECONDS,
                                     lambda v=variant: self._peak(v)))
            tries = BATCH_TRIES // 2 if _is_alone(variant) else BATCH_TRIES
            pieces.append(self._size(variant, "largest batch", tries * tried,
                                     lambda v=variant: self._largest(v)))
        return pieces

    def _curves(self):
        net = self.net
        pieces = []
        for turn in range(1, self._turns + 1):
            for variant in self._variants():
                if _is_alone(variant):
                    steps, seconds = CURVE_STEPS, 0
                else:
                    runs = net.rounds * (1 + len(self._shares(variant)))
                    steps, seconds = runs * BUDGET_COST * CURVE_STEPS, runs * (net.model_seconds + PLAN_SECONDS)
                make = self._plain if _is_alone(variant) else self._curve
                pieces.append(self.piece("curves", self.PART, f"{variant}, turn {turn}",
                                         seconds + steps * net.step_seconds[0],
                                         lambda m=make, v=variant: m(v),
                                         net.is_claimed and variant in ("dense", "ctdr")))
        return pieces

    def _variants(self):
        return ["dense", "ctdr", "recompute", *(f"{method} alone" for method in methods_of(self.net))]

    def _shares(self, variant):
        if variant != "recompute":
            return self.net.shares
        return [share for share in self.net.shares if share in RECOMPUTE_SHARES] or self.net.shares[-1:]

    def _size(self, variant, what, seconds, make):
        return self.piece("sizes", self.PART, f"{variant}, {what}", seconds, make, what == "smallest budget")

    def _means(self, variant):
        return ["--tiers", "none"] if variant == "recompute" else []

    def _forms(self, variant):
        """The options that make the variant of the net."""
        if variant in ("dense", "recompute"):
            return []
        row = self.row(part_of_seed(self.net.seeds[0]), variant)
        return ["--forms", self.forms_file(variant, row["layers"])]

    def _peak(self, variant):
        """Of a step that was captured, as it is and, by the simulator, planned for CTDR's budget."""
        trace = str(self.folder / f"{variant.replace(' ', '_')}.trace")
        self.folder.mkdir(parents=True, exist_ok=True)
        found = self.lowtide("profile", self.name, *self.net.memory, *self._forms(variant), "-o", trace)
        row = _chosen(found, "plain_peak_bytes", "peak_bytes_by_kind")
        swap = ["--option", "swap=no"] if variant == "recompute" else []
        planned = self.lowtide.plan("simulate", trace, "--policy", "tide", *swap, "--timeline", "--think",
                                    str(4 * PLAN_SECONDS), "--budget", self.budget(), allowed=(0, 3))
        row["budget_bytes"] = planned["budget_bytes"]
        if planned.get("refused"):
            row["smallest_plan_bytes"] = planned["smallest_budget_bytes"]
            return row
        row["planned_peak_bytes"] = planned["peak_bytes"]
        row["planned_bytes_by_kind"] = next(tick["bytes"] for tick in planned["timeline"]
                                            if tick["op"] == planned["peak_op"]["op"])
        return row

    def _curve(self, variant):
        budgets = [self.bytes_of(ChoicePart.PART, share) for share in self._shares(variant)]
        # 1 and 3: some or all budgets cannot be kept, which is told for each.
        found = self.lowtide("compare", self.name, *self.net.memory, *self._forms(variant),
                             *self._means(variant), *self.policy, "--measure", "--budgets",
                             ",".join(budgets), "--rounds", str(self.net.rounds), "--steps",
                             str(TIMED_STEPS), "--untimed-steps", str(CURVE_STEPS - TIMED_STEPS),
                             allowed=(0, 1, 3))
        return _chosen(found, "plain_peak_bytes", "plain_step_seconds", "plain_step_seconds_by_round",
                       "identical", "budgets")

    def _plain(self, variant):
        found = self.lowtide("train", self.name, *self.net.memory, *self._forms(variant), "--steps",
                             str(CURVE_STEPS), "--deterministic")
        return _chosen(found) | {"plain_peak_bytes": found["peak_bytes"],
                                 "plain_step_seconds": found["step_seconds"], "budgets": []}

    def _largest(self, variant):
        found = self.lowtide("max-batch", self.name, *without_batch(self.net.memory),
                             *self._forms(variant), *self._means(variant), "--budget",
                             self.net.batch_budget, "--look-for",
                             "plain" if _is_alone(variant) else "managed", "--first",
                             str(self.net.first_batch), "--slack", str(BATCH_SLACK))
        return _chosen(found, "budget_bytes", "plain", "managed")

    def _smallest(self, variant):
        """Refused a twentieth, the program looks for what it can keep, and names it."""
        least = self.bytes_of(ChoicePart.PART, 0.05)
        try:
            self.lowtide("train", self.name, *self.net.memory, *self._forms(variant), *self.policy,
                         "--steps", "3", "--budget", least)
        except Failed as refusal:
            found = str(refusal).rpartition("--budget ")[2]
            if found.isdigit():
                return {"budget_bytes": int(found)}
            raise
        return {"budget_bytes": int(least[:-1]), "is_less": True}


def _is_alone(variant):
    return variant.endswith("alone")


def part_of_seed(seed):
    return f"accuracy, seed {seed}"


def _chosen(figures, *keys):
    return {key: figures.get(key) for key in (*keys, "command", "wall_seconds")}


def decomposed_row(figures):
    row = _chosen(figures, "parameters_before", "parameters", "accuracy_before",
                  "accuracy_after_decomposition", "accuracy_after_fine_tuning", "loss_before",
                  "loss_after_decomposition", "loss_after_fine_tuning", "accuracy_is_back",
                  "fine_tuning_steps", "fine_tuning_seconds", "peak_bytes", "budget_bytes", "raises",
                  "before_raises")
    row["captured"] = {name: {key: figures[name].get(key) for key in (
        "plain_peak_bytes", "plain_bytes", "plain_step_seconds", "planned_step_seconds")}
                       for name in ("dense", "chosen")}
    row["layers"] = {layer["layer"]: layer["form"] for layer in figures["layers"]}
    row["reasons"] = {layer["layer"]: layer["reason"] for layer in figures["layers"]}
    row["loss_rises"] = {layer["layer"]: layer["best_option"]["loss_rise"] for layer in figures["layers"]
                         if "best_option" in layer}
    row["trials"] = [{key: trial.get(key) for key in ("layers", "plain_step_seconds", "planned_step_seconds")}
                     for trial in figures.get("trials", ())]
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
    """The median over all rounds and turns, and their least and most, of a variant inside a budget; None
    if it cannot be kept. budget_bytes 0: plainly."""
    seconds = []
    for name, row in rows.items():
        if not name.startswith(f"{variant}, turn ") or "refused" in row:
            continue
        plain = row.get("plain_step_seconds_by_round") or [row["plain_step_seconds"]]
        if budget_bytes == 0:
            seconds += plain
        for point in row["budgets"]:
            if point["budget_bytes"] == budget_bytes and not point["refused"]:
                seconds += _seconds_by_round(plain, point)
    return (statistics.median(seconds), min(seconds), max(seconds)) if seconds else None


def _seconds_by_round(plain, point):
    """A round's ratio is over the plain steps of the same round."""
    ratios = point.get("ratios") or []
    if len(ratios) != len(plain):
        return [point["step_seconds"]]
    return [ratio * seconds for ratio, seconds in zip(ratios, plain)]
