# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The zoo's models against torchvision's: names, shapes, and one training step with equal weights."""

import unittest

import torch

from steps import difference, zoo

try:
    import torchvision
except ModuleNotFoundError as error:
    torchvision = None
    print(f"skipped: {error}; tools/requirements-torch.txt says which is needed")

CLASSES = 10
BATCH = 2

NAMES = ["alexnet", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn",
         "vgg19_bn", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet121",
         "densenet169", "densenet201", "googlenet", "inception_v3", "mobilenet_v2", "vit_b_16"]

# Of each family: the size of pictures, what turns dropout off, and the share in the loss of
# auxiliary heads. Inception-v3's needs pictures of this size.
FAMILIES = {
    "alexnet": (64, {"dropout": 0}, 0),
    "vgg": (32, {"dropout": 0}, 0),
    "resnet": (64, {}, 0),
    "densenet": (64, {}, 0),
    "googlenet": (64, {"dropout": 0, "dropout_aux": 0, "init_weights": False}, 0.3),
    "inception": (299, {"dropout": 0, "init_weights": False}, 0.4),
    "mobilenet": (64, {"dropout": 0}, 0),
    "vit": (64, {"image_size": 64}, 0),
}

# Models of a family draw their first values in one place.
ONE_OF_EACH = ["alexnet", "vgg16_bn", "resnet50", "densenet121", "googlenet", "inception_v3",
               "mobilenet_v2", "vit_b_16"]

# Relative to the largest entry of a tensor. Most are equal bit for bit, as both sides call the same
# kernels; ViT's attention lies otherwise in memory.
TOLERANCE = 1e-5

# Two times in three, a sample of this size has a mean and a standard deviation within some 2 % of
# the distribution's.
ENOUGH_TO_COUNT = 2000
SPREAD_TOLERANCE = 0.08


def loss_of(outputs, targets, auxiliary_share):
    """Gives the scores of the head, and the loss with the share of the auxiliary ones."""
    cross_entropy = torch.nn.functional.cross_entropy
    if isinstance(outputs, torch.Tensor):
        return outputs, cross_entropy(outputs, targets)
    loss = cross_entropy(outputs.logits, targets)
    for scores in outputs[1:]:
        loss = loss + auxiliary_share * cross_entropy(scores, targets)
    return outputs.logits, loss


def family_of(name):
    return next(FAMILIES[family] for family in FAMILIES if name.startswith(family))


def moved_away_from_zeros(model):
    """ViT's head starts with zeros, and through those nothing flows back."""
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(0, 0.02)
    return model


@unittest.skipIf(torchvision is None, "torchvision is missing")
class Torchvision(unittest.TestCase):
    def test_names_and_shapes_are_equal(self):
        for name in NAMES:
            with self.subTest(name), torch.device("meta"):
                extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
                theirs = getattr(torchvision.models, name)(**extra).state_dict()
                self.assertEqual(dict(zoo.shapes(name)),
                                 {key: list(value.shape) for key, value in theirs.items()})

    def test_first_values_are_spread_alike(self):
        for name in ONE_OF_EACH:
            with self.subTest(name):
                size, extra, _ = family_of(name)
                torch.manual_seed(1)
                extra = extra | ({"init_weights": True} if "init_weights" in extra else {})
                theirs = getattr(torchvision.models, name)(num_classes=CLASSES, **extra)
                ours = zoo.first_values(name, {"size": size, "classes": CLASSES})
                for key, value in theirs.state_dict().items():
                    self.compare_spread(key, ours[key], value)

    def compare_spread(self, key, ours, theirs):
        if theirs.min() == theirs.max():
            self.assertTrue(torch.equal(ours, theirs), key)
        elif theirs.numel() >= ENOUGH_TO_COUNT:
            spread = theirs.std().item()
            self.assertAlmostEqual(ours.std().item() / spread, 1, delta=SPREAD_TOLERANCE, msg=key)
            self.assertLess(abs(ours.mean().item()) / spread, SPREAD_TOLERANCE, key)

    def test_steps_are_equal(self):
        for name in NAMES:
            with self.subTest(name):
                self.compare_step(name)

    def compare_step(self, name):
        size, extra, auxiliary_share = family_of(name)
        torch.manual_seed(1)
        make = getattr(torchvision.models, name)
        model = moved_away_from_zeros(make(num_classes=CLASSES, **extra)).train()
        state = {key: value.clone() for key, value in model.state_dict().items()}
        pictures = torch.randn(BATCH, 3, size, size)
        targets = torch.randint(CLASSES, (BATCH,))
        ours = zoo.step(name, {"size": size, "classes": CLASSES}, state, pictures, targets)

        scores, loss = loss_of(model(pictures), targets, auxiliary_share)
        loss.backward()
        theirs = {"scores": scores.detach(), "loss": loss.detach(), **dict(model.named_buffers()),
                  **{key: value.grad for key, value in model.named_parameters()}}
        self.assertEqual(set(ours), set(theirs))
        first = next(key for key, _ in model.named_parameters())
        self.assertTrue(theirs[first].any(), "nothing flowed back")
        self.assertTrue(all(value.isfinite().all() for value in [*ours.values(), *theirs.values()]))
        worst = max((difference(ours[key], theirs[key]), key) for key in theirs)
        print(f"{name}: {len(theirs)} tensors, largest difference {worst[0]:.1e}, of {worst[1]}")
        self.assertLessEqual(worst[0], TOLERANCE)


if __name__ == "__main__":
    unittest.main()
