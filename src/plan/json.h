// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/plan.h"

namespace lowtide::plan {

// The form for files that other programs read and write: JSON with "format": "lowtide-plan" and
// "version": 1; docs/plan-format.md has the fields. A position is the index of an op or the string
// "end"; an order is {"do": "order", "ops": [...]}. parse_json throws InvalidInput, naming the
// field, and says so if the plan was made for another trace; parse_json(print_json(p)) is p.
Plan parse_json(std::string_view text, const Problem& problem);
std::string print_json(const Plan& plan, const Problem& problem);

// Either form, told apart by the first character.
Plan parse_any(std::string_view text, const Problem& problem);

}  // namespace lowtide::plan
