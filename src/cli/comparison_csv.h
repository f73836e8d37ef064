// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/comparison.h"

namespace lowtide::cli {

// The names of the columns, as one line of CSV.
std::string comparison_csv_head();

// A line for each plan. Numbers are plain bytes and seconds; a refusal has none but how
// long it took and the smallest budget that would do.
std::string comparison_csv(const PlainStep& step, const std::vector<ComparedPlan>& plans);

}  // namespace lowtide::cli
