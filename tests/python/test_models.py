# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""torchvision's models under a budget, bit for bit. One of each family, and with LT_MODELS=all all
of the classification models; LT_SHARD=2/5 takes every fifth of them from the second on."""

import os
import unittest

import torch
import torchvision

import training

# Of each family: the smallest, in general.
FAMILIES = ["alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "googlenet",
            "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_y_400mf", "resnet18",
            "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t", "vgg11_bn", "vit_b_16"]
SHARES = (0.6, 0.4)
# Sizes of pictures where 64 is too small or goes into the model.
SIZES = {"inception_v3": 75, "alexnet": 64, "vit_h_14": 56}


def chosen():
    names = FAMILIES
    if os.environ.get("LT_MODELS") == "all":
        names = torchvision.models.list_models(module=torchvision.models)
    first, every = (int(part) for part in os.environ.get("LT_SHARD", "1/1").split("/"))
    return names[first - 1::every]


def build(name):
    torch.manual_seed(1)
    options = {"num_classes": 10}
    size = SIZES.get(name, 64)
    if name.startswith("vit_"):
        options["image_size"] = size
    if name in ("googlenet", "inception_v3"):
        options |= {"aux_logits": False, "init_weights": False}
    return torchvision.models.get_model(name, weights=None, **options), size


class Torchvision(unittest.TestCase):
    def test_models_train_with_the_same_bits(self):
        for name in chosen():
            model, size = build(name)
            for share in SHARES:
                with self.subTest(name=name, share=share):
                    training.check_identity(self, model, lambda: torch.randn(4, 3, size, size),
                                            share, steps=2, floor_bytes=4096)


if __name__ == "__main__":
    unittest.main()
