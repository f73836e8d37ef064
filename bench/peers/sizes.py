# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""How large the trainings of bench/peers are. Apart from them, since these need torch."""

SIZES = {
    "resnet50": {"batch": 128, "side": 224},
    "gpt2-medium": {"batch": 8, "context": 1024, "layers": 24, "width": 1024, "heads": 16,
                    "vocabulary": 50304},
}
# So small that a CPU does a mode in a second or two.
SMOKE_SIZES = {
    "resnet50": {"batch": 4, "side": 32},
    "gpt2-medium": {"batch": 2, "context": 64, "layers": 3, "width": 128, "heads": 4,
                    "vocabulary": 512},
}
