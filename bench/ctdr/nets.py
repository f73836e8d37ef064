# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The nets of this benchmark and how they are run."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Net:
    """Options of `lowtide` for the two parts. `budget`: the share of the dense net's plain peak that is
    CTDR's budget; `batch_budget`: where the largest batch is looked for; epochs are rounds through the
    data of the dense net and of fine-tuning, at most."""
    memory: tuple
    accuracy: tuple
    budget: float
    batch_budget: str
    epochs: int
    tuning_epochs: int
    # Linear layers only, which all methods decompose by SVD.
    is_linear: bool = False


PICTURES = ("--data", "fashion-mnist-full", "--batch", "128", "--size", "64", "--amp", "bf16",
            "--schedule", "cosine")
# The nets' own input size, with weights as they begin: memory and time do not depend on those.
OWN_SIZE = ("--batch", "64", "--amp", "bf16")
GPT = ("--batch", "16", "--layers", "12", "--width", "768", "--heads", "12", "--context", "512",
       "--optimizer", "adamw", "--amp", "bf16")

FULL = {
    "lenet5": Net(("--batch", "128"), ("--data", "fashion-mnist-full", "--batch", "128"), 0.7,
                  "64MiB", 10, 5),
    **{name: Net(OWN_SIZE, PICTURES, 0.4, "16GiB", 10, 5)
       for name in ("alexnet", "vgg16_bn", "resnet18", "resnet50", "densenet121", "googlenet",
                    "vit_b_16")},
    "gpt": Net(GPT, GPT, 0.4, "16GiB", 2, 1, is_linear=True),
}

_LENET = ("--batch", "64")
_RESNET = ("--batch", "64", "--width", "8")
_SMALL_GPT = ("--batch", "8", "--layers", "2", "--width", "128", "--heads", "4", "--context", "64",
              "--dropout", "0", "--optimizer", "adamw")
# Minutes on a CPU.
SMOKE = {
    "lenet5": Net(_LENET, _LENET, 0.7, "6MiB", 2, 1),
    "small_resnet": Net(_RESNET, (*_RESNET, "--schedule", "cosine"), 0.5, "24MiB", 1, 1),
    "gpt": Net(_SMALL_GPT, _SMALL_GPT, 0.6, "24MiB", 1, 1, is_linear=True),
}

# Of the dense net's plain peak; every variant is measured in the same bytes.
SHARES = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2)

HALF = ("--rank", "compression=0.5", "--everywhere")
DECOMPOSED = {"svd": ("--method", "svd", *HALF), "tucker2": ("--method", "tucker2", *HALF),
              "cp3": ("--method", "cp3", *HALF)}


def methods_of(net):
    return {name: options for name, options in DECOMPOSED.items()
            if name == "svd" or not net.is_linear}
