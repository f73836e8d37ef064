# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Which of torch's kernels a dry run takes on which GPU, by what they leave to the backward pass."""

import unittest

import torch
from torch.nn import functional

from dry import dry_run

BF16, FLOAT = torch.bfloat16, torch.float32
# GPU, type, whether there is a mask, the kernel. As torch's sdp_utils.cpp chooses.
ATTENTION = [
    ("h200", BF16, False, "Cudnn"),
    ("h200", BF16, True, "Cudnn"),
    ("h200", FLOAT, False, "Efficient"),
    ("a100-40", BF16, False, "Flash"),
    ("rtx4090", BF16, False, "Flash"),
    ("a100-40", BF16, True, "Efficient"),
    ("a100-40", FLOAT, False, "Efficient"),
    ("t4", FLOAT, False, "Efficient"),
    # Nothing that keeps its scores to itself knows bfloat16 there.
    ("t4", BF16, False, None),
    ("v100-16", BF16, False, None),
]


def attention_node(dtype, has_mask):
    heads = torch.randn(2, 4, 16, 8, dtype=dtype, requires_grad=True)
    mask = torch.zeros(2, 1, 16, 16, dtype=dtype) if has_mask else None
    return functional.scaled_dot_product_attention(heads, heads, heads, mask).grad_fn.name()


class Choices(unittest.TestCase):
    def test_attention_is_what_torch_would_take_on_the_card(self):
        for gpu, dtype, has_mask, kernel in ATTENTION:
            with self.subTest(gpu=gpu, dtype=dtype, has_mask=has_mask):
                with dry_run(gpu):
                    node = attention_node(dtype, has_mask)
                if kernel is None:
                    self.assertNotIn("ScaledDotProduct", node)
                else:
                    self.assertEqual(node, f"ScaledDotProduct{kernel}AttentionBackward0")


if __name__ == "__main__":
    unittest.main()
