# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The nets of this benchmark and how they are run."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Net:
    """`memory`: options of `lowtide` at the net's own input size, where memory, batches and time are
    measured and CTDR chooses; `accuracy`: those of the training whose accuracy counts. `budget`: the
    share of the dense net's plain peak that is CTDR's budget; `batch_budget`: where the largest batch
    is looked for. Epochs are rounds through the data: of the dense net, and of fine-tuning at most."""
    memory: tuple
    accuracy: tuple
    budget: float
    batch_budget: str
    epochs: int
    tuning_epochs: int
    seeds: tuple = ("1",)
    # Of the training after which CTDR chooses, at the own size and on the data that is linked in: its
    # weights are to be no random numbers, and no more.
    choice_epochs: int = 3
    # Linear layers only, which all methods decompose by SVD.
    is_linear: bool = False
    # By which ranks are chosen; empty: as the program does, and half of the parameters everywhere.
    rank: str = ""
    # What predictions are made of: guesses of plain steps in seconds (own size, accuracy), and how many
    # such layers there are that take long to decompose. The first rows that are measured correct them.
    step_seconds: tuple = (0.05, 0.02)
    large_layers: int = 0
    # Steps in a round of the two.
    epoch_steps: tuple = (140, 468)


PICTURES = ("--data", "fashion-mnist-full", "--batch", "128", "--size", "64", "--amp", "bf16",
            "--schedule", "cosine")
OWN_SIZE = ("--batch", "64", "--amp", "bf16")
GPT = ("--batch", "16", "--layers", "12", "--width", "768", "--heads", "12", "--context", "512",
       "--optimizer", "adamw", "--amp", "bf16")
THREE = ("1", "2", "3")


def _pictures(step_seconds, large_layers, seeds=("1",)):
    return Net(OWN_SIZE, PICTURES, 0.4, "16GiB", 10, 3, seeds, step_seconds=step_seconds,
               large_layers=large_layers)


FULL = {
    "lenet5": Net(("--batch", "128"), ("--data", "fashion-mnist-full", "--batch", "128"), 0.7,
                  "64MiB", 10, 3, THREE, step_seconds=(0.002, 0.002), epoch_steps=(70, 468)),
    "alexnet": _pictures((0.02, 0.01), 5),
    "vgg16_bn": _pictures((0.1, 0.03), 11),
    "resnet18": _pictures((0.03, 0.015), 6, THREE),
    "resnet50": _pictures((0.07, 0.03), 8),
    "densenet121": _pictures((0.1, 0.06), 0),
    "googlenet": _pictures((0.05, 0.03), 4),
    "vit_b_16": _pictures((0.08, 0.03), 4),
    "gpt": Net(GPT, GPT, 0.4, "16GiB", 2, 1, is_linear=True, choice_epochs=1,
               step_seconds=(0.05, 0.05), large_layers=4, epoch_steps=(120, 120)),
}

_LENET = ("--batch", "64")
_RESNET = ("--batch", "64", "--width", "8")
_SMALL_GPT = ("--batch", "8", "--layers", "2", "--width", "128", "--heads", "4", "--context", "64",
              "--dropout", "0", "--optimizer", "adamw")
# Minutes on a CPU.
SMALL = {
    "lenet5": Net(_LENET, _LENET, 0.95, "6MiB", 2, 1, choice_epochs=1, step_seconds=(0.1, 0.1),
                  epoch_steps=(140, 140)),
    "small_resnet": Net(_RESNET, (*_RESNET, "--schedule", "cosine"), 0.5, "24MiB", 1, 1,
                        choice_epochs=1, step_seconds=(0.2, 0.2), epoch_steps=(140, 140)),
    "gpt": Net(_SMALL_GPT, _SMALL_GPT, 0.6, "24MiB", 1, 1, choice_epochs=1, is_linear=True,
               step_seconds=(0.1, 0.1), epoch_steps=(1900, 1900)),
}


def smoke_nets(folder):
    """All nets of FULL, so small that they run anywhere, on the few examples in `folder`: whether the
    way from one end to the other is open, and nothing else."""
    pictures = ("--data", f"{folder}/pictures", "--batch", "8", "--size", "32", "--amp", "bf16")
    # CP at half of the parameters of a wide layer takes a CPU hours, at a rank of 4 seconds.
    small = Net(pictures, (*pictures, "--schedule", "cosine"), 0.8, "2GiB", 1, 1, choice_epochs=1,
                step_seconds=(1, 1), epoch_steps=(4, 4), rank="4")
    vit = ("--layers", "2", "--width", "48", "--heads", "2")
    text = ("--data", f"{folder}/text.txt", "--batch", "2", "--layers", "2", "--width", "48",
            "--heads", "2", "--context", "16", "--optimizer", "adamw", "--amp", "bf16")
    own = (*pictures[:-4], "--size", "64", "--amp", "bf16")
    nets = {name: small for name in FULL}
    nets["lenet5"] = dataclasses.replace(small, memory=("--data", f"{folder}/pictures", "--batch", "8"),
                                         accuracy=("--data", f"{folder}/pictures", "--batch", "8"))
    nets["alexnet"] = dataclasses.replace(small, memory=own, accuracy=own)
    # Own size and that of the accuracy differ, as they do in full, and with them its parameters.
    nets["vit_b_16"] = dataclasses.replace(small, memory=(*own, *vit),
                                           accuracy=(*small.accuracy, *vit))
    nets["gpt"] = dataclasses.replace(small, memory=text, accuracy=text, is_linear=True)
    return nets


# Of the dense net's plain peak; every variant is measured in the same bytes. In groups, each of which is
# one measurement, so that it is done in minutes.
SHARES = ((0.95, 0.8, 0.7), (0.6, 0.5, 0.4), (0.3, 0.2))

METHODS = ("svd", "tucker2", "cp3")


def methods_of(net):
    """The options that decompose every layer that can be, by name of the method."""
    rank = net.rank or "compression=0.5"
    return {method: ("--method", method, "--rank", rank, "--everywhere") for method in METHODS
            if method == "svd" or not net.is_linear}


def all_shares():
    return [share for group in SHARES for share in group]
