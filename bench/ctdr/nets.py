# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The nets of this benchmark and how they are run."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Net:
    """`memory`: options of `lowtide` at the net's own input size, where memory, batches and time are
    measured and CTDR chooses; `accuracy`: those of the training whose accuracy counts; `rate`: the
    learning rate of both, and `tuning_rate` of all that comes after, be it decomposed or dense.
    `budget`: the share of the dense net's plain peak that CTDR chooses for; `batch_budget`: where the
    largest batch is looked for, from `first_batch` on. Epochs are rounds through the data: of the dense
    net, and of fine-tuning at most."""
    memory: tuple
    accuracy: tuple
    budget: float
    batch_budget: str
    first_batch: int
    epochs: int
    tuning_epochs: int
    rate: float = 1e-3
    tuning_rate: float = 3e-4
    # Steps in which the rate grows, of the dense net's training.
    warm_up: int = 0
    seeds: tuple = ("1",)
    # The net is one of those that decomposing is claimed to be good for: it is measured first, and more
    # of it.
    is_claimed: bool = False
    # Of the dense net's plain peak; every variant is measured in the same bytes.
    shares: tuple = (0.8, 0.6, 0.4, 0.3)
    # Of each measured curve.
    rounds: int = 1
    # Of the training after which CTDR chooses, at the own size and on the data that is linked in: its
    # weights are to be no random numbers, and no more.
    choice_epochs: int = 1
    # Fine-tuning of what CTDR chose is done within this share of the dense net's peak there; 0: in no budget.
    tuning_budget: float = 0.6
    # Linear layers only, which all methods decompose by SVD.
    is_linear: bool = False
    # By which ranks are chosen; empty: as the program does, and half of the parameters everywhere.
    rank: str = ""
    # What predictions are made of: guesses of plain steps in seconds (own size, accuracy), how many such
    # layers there are that take long to decompose, and how long a model takes to be made. The first rows
    # that are measured correct them.
    step_seconds: tuple = (0.05, 0.02)
    large_layers: int = 0
    model_seconds: float = 0.5
    # Steps in a round of the two.
    epoch_steps: tuple = (125, 117)


PICTURES = ("--data", "fashion-mnist-full", "--batch", "512", "--size", "64", "--optimizer", "adamw",
            "--amp", "bf16")
OWN_SIZE = ("--batch", "64", "--optimizer", "adamw", "--amp", "bf16")
GPT = ("--batch", "16", "--layers", "12", "--width", "768", "--heads", "12", "--context", "512",
       "--dropout", "0.2", "--optimizer", "adamw", "--amp", "bf16")
LENET = ("--batch", "256", "--optimizer", "adamw")
THREE = ("1", "2", "3")


def _pictures(batch_budget, first_batch, **more):
    return Net(OWN_SIZE, PICTURES, **{"budget": 0.4, "batch_budget": batch_budget,
                                      "first_batch": first_batch, "epochs": 3, "tuning_epochs": 1,
                                      "warm_up": 40} | more)


FULL = {
    "vgg16_bn": _pictures("6GiB", 32, rate=5e-4, tuning_epochs=2, seeds=THREE, is_claimed=True, rounds=2,
                          step_seconds=(0.05, 0.04), large_layers=11, model_seconds=2),
    "vit_b_16": _pictures("6GiB", 32, rate=5e-4, tuning_epochs=2, is_claimed=True, rounds=2,
                          shares=(0.8, 0.6, 0.4, 0.3, 0.2), step_seconds=(0.045, 0.03), large_layers=4,
                          model_seconds=1.5),
    # Sixteen rounds through Tiny Shakespeare are 1,952 steps; 60 % of the memory costs the dense net
    # next to nothing, and at 30 % its states have to move.
    "gpt": Net(GPT, GPT, 0.3, "6GiB", 8, 16, 3, 5e-4, warm_up=100, is_claimed=True, rounds=2,
               is_linear=True, step_seconds=(0.035, 0.035), large_layers=4, model_seconds=1.5,
               epoch_steps=(122, 122)),
    "densenet121": _pictures("4GiB", 32, step_seconds=(0.06, 0.06), large_layers=15),
    "googlenet": _pictures("4GiB", 64, step_seconds=(0.03, 0.035), large_layers=8),
    "lenet5": Net(LENET, ("--data", "fashion-mnist-full", *LENET), 0.7, "64MiB", 512, 10, 3, seeds=THREE,
                  tuning_budget=0, step_seconds=(0.003, 0.003), model_seconds=0.1, epoch_steps=(31, 234)),
    "resnet18": _pictures("4GiB", 128, step_seconds=(0.02, 0.025), large_layers=5),
    "resnet50": _pictures("4GiB", 32, step_seconds=(0.035, 0.035), large_layers=5),
    "alexnet": _pictures("4GiB", 256, rate=3e-4, step_seconds=(0.015, 0.015), large_layers=4,
                         model_seconds=1),
}
# One group after the other.
GROUPS = (("vgg16_bn", "vit_b_16", "gpt"), ("densenet121", "googlenet"))

_LENET = ("--batch", "64", "--optimizer", "adamw")
_RESNET = ("--batch", "64", "--width", "8", "--optimizer", "adamw")
_SMALL_GPT = ("--batch", "8", "--layers", "2", "--width", "128", "--heads", "4", "--context", "64",
              "--dropout", "0", "--optimizer", "adamw")
# Minutes on a CPU.
SMALL = {
    "lenet5": Net(_LENET, _LENET, 0.95, "6MiB", 64, 2, 1, is_claimed=True, tuning_budget=0.95,
                  step_seconds=(0.1, 0.1), model_seconds=0.1),
    "small_resnet": Net(_RESNET, _RESNET, 0.5, "24MiB", 32, 1, 1, tuning_budget=0.5,
                        step_seconds=(0.2, 0.2), model_seconds=0.1),
    "gpt": Net(_SMALL_GPT, _SMALL_GPT, 0.6, "24MiB", 16, 1, 1, is_linear=True, step_seconds=(0.1, 0.1),
               model_seconds=0.1, epoch_steps=(1900, 1900)),
}


def smoke_nets(folder):
    """All nets of FULL, so small that they run anywhere, on the few examples in `folder`: whether the
    way from one end to the other is open, and nothing else."""
    pictures = ("--data", f"{folder}/pictures", "--batch", "8", "--optimizer", "adamw", "--amp", "bf16")
    # CP at half of the parameters of a wide layer takes a CPU hours, at a rank of 4 seconds.
    small = Net((*pictures, "--size", "32"), (*pictures, "--size", "32"), 0.8, "2GiB", 8, 1, 1,
                shares=(0.9, 0.6), tuning_budget=0.8, rank="4", step_seconds=(1, 1), epoch_steps=(4, 4))
    vit = ("--layers", "2", "--width", "48", "--heads", "2")
    text = ("--data", f"{folder}/text.txt", "--batch", "2", "--layers", "2", "--width", "48",
            "--heads", "2", "--context", "16", "--optimizer", "adamw", "--amp", "bf16")
    own = (*pictures, "--size", "64")
    nets = {name: small for name in FULL}
    nets["lenet5"] = dataclasses.replace(small, memory=pictures[:-2], accuracy=pictures[:-2],
                                         seeds=("1", "2"))
    nets["alexnet"] = dataclasses.replace(small, memory=own, accuracy=own)
    # Own size and that of the accuracy differ, as they do in full, and with them its parameters.
    nets["vit_b_16"] = dataclasses.replace(small, memory=(*own, *vit), is_claimed=True, rounds=2,
                                           accuracy=(*small.accuracy, *vit))
    nets["gpt"] = dataclasses.replace(small, memory=text, accuracy=text, is_claimed=True, is_linear=True,
                                      first_batch=2)
    return nets


METHODS = ("svd", "tucker2", "cp3")


def methods_of(net):
    """The options that decompose every layer that can be, by name of the method."""
    rank = net.rank or "compression=0.5"
    return {method: ("--method", method, "--rank", rank, "--everywhere") for method in METHODS
            if method == "svd" or not net.is_linear}


def groups_of(names):
    """The names in the order in which they are measured, those of a group together."""
    groups = [[name for name in group if name in names] for group in GROUPS]
    groups.append([name for name in names if not any(name in group for group in GROUPS)])
    return [group for group in groups if group]
