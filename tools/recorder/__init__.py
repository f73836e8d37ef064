# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Records one training step of a PyTorch model as a Lowtide trace; the parts of tools/record_trace.py."""
