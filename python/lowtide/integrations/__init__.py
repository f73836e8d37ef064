# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Callbacks for training frameworks; import the one you use: lowtide.integrations.transformers."""
