// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/plan.h"

namespace lowtide::plan {

// The terse form of a plan, one action a line; docs/plan-format.md describes it. A plan names
// values of the problem's trace and tiers of its machine. parse_text throws InvalidInput naming the
// line, and says so if the plan was made for another trace; parse_text(print_text(p)) is p.
// print_text throws InvalidInput for a plan that names what does not exist.
Plan parse_text(std::string_view text, const Problem& problem);
std::string print_text(const Plan& plan, const Problem& problem);

}  // namespace lowtide::plan
