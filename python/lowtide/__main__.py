# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""`python -m lowtide`."""

from ._launch import main

main()
