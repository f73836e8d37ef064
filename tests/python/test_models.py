# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""torchvision's models under a budget, bit for bit: of each family the small ones, and with
LT_MODELS=all all of the classification models. LT_SHARD=2/5 takes every fifth of them, from the
second on; so does ctest."""

import os
import time
import unittest

import torch
import torchvision

import training

# Neighbours go to different shards.
SMALL = [
    "alexnet", "vgg11", "vgg11_bn", "vit_b_32", "convnext_tiny", "convnext_small", "densenet121",
    "densenet169", "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_v2_s",
    "googlenet", "inception_v3", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3",
    "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf",
    "regnet_x_800mf", "regnet_y_400mf", "regnet_y_800mf", "resnet18", "resnet34", "resnet50",
    "resnext50_32x4d", "wide_resnet50_2", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5", "shufflenet_v2_x2_0", "squeezenet1_0", "squeezenet1_1", "swin_t",
    "swin_v2_t", "maxvit_t", "vit_b_16",
    # What gives more than a class.
    "fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large", "r3d_18", "mc3_18"]
SHARES = (0.6, 0.4)
# Quick ones of every shard, which train on after there is a plan.
PLANNED = ("mnasnet0_5", "mobilenet_v3_small", "resnet18", "shufflenet_v2_x0_5", "squeezenet1_1")
# Sizes of pictures where 64 is too small or goes into the model.
SIZES = {"inception_v3": 75, "vit_h_14": 56, "maxvit_t": 224}
FILMS = ("r3d_18", "mc3_18")


def chosen():
    names = SMALL
    if os.environ.get("LT_MODELS") == "all":
        names = torchvision.models.list_models(module=torchvision.models)
    elif "LT_MODELS" in os.environ:
        names = os.environ["LT_MODELS"].split(",")
    first, every = (int(part) for part in os.environ.get("LT_SHARD", "1/1").split("/"))
    return names[first - 1::every]


def build(name):
    """The model, and what makes a batch for it."""
    torch.manual_seed(1)
    options = {"num_classes": 10}
    size = SIZES.get(name, 64)
    if name.startswith("vit_"):
        options["image_size"] = size
    if name in ("googlenet", "inception_v3"):
        options |= {"aux_logits": False, "init_weights": False}
    if name.startswith(("fcn", "deeplab", "lraspp")):
        options["weights_backbone"] = None
    model = torchvision.models.get_model(name, weights=None, **options)
    shape = (2, 3, 4, size, size) if name in FILMS else (2, 3, size, size)
    return model, lambda: torch.randn(shape)


def loss_of(output):
    return (output["out"] if isinstance(output, dict) else output).square().mean()


class Torchvision(unittest.TestCase):
    def check(self, name):
        model, make_batch = build(name)
        is_planned, guided_steps = name in PLANNED, 0
        arguments = {"steps": 5 if is_planned else 2, "loss_of": loss_of}
        plain, _ = training.train(model, make_batch, **arguments)
        peak = training.peak_of(model, make_batch, **arguments)
        for share in SHARES:
            with self.subTest(name=name, share=share):
                stats = training.check_managed(self, plain, model, make_batch, int(peak * share),
                                               floor_bytes=4096, wait_for_plans=is_planned, **arguments)
                guided_steps += stats["guided_steps"]
        if is_planned:
            # Not every budget has a plan.
            self.assertGreater(guided_steps, 2)

    def test_models_train_with_the_same_bits(self):
        names = chosen()
        self.assertGreater(len(names), 0)
        for name in names:
            start = time.perf_counter()
            self.check(name)
            print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    unittest.main()
