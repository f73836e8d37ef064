// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "plan/findings.h"

namespace lowtide::plan {

// Checks that an Order names every op once, and that each op comes after those it depends on: the
// producers of what it reads, the writer and the readers of what it overwrites, and the first
// writer of what it makes a view of. A plan has at most one Order.
void check_order(const Problem& problem, const Plan& plan, Findings& findings);

}  // namespace lowtide::plan
