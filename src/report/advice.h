// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/alternatives.h"
#include "report/peak.h"
#include "report/study.h"

namespace lowtide::report {

// One thing that a user could change, and the figures that speak for it.
struct Advice {
  std::string title;
  std::string reason;
};

// What follows from the figures of this step, the most worthwhile first; nothing that does not.
// `prices` as price_budgets() has them, `peak` that of the plain step.
std::vector<Advice> advise(const Study& study, const Peak& peak,
                           const std::vector<Alternative>& prices);

}  // namespace lowtide::report
