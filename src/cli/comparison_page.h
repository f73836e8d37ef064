// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/comparison.h"

namespace lowtide::cli {

// One trace of a page: heading, plot and table, as HTML.
std::string comparison_section(const PlainStep& step, const std::vector<ComparedPlan>& plans);

// A page that needs nothing but itself: no scripts from elsewhere, no network. The line of a policy
// stands out while the mouse is over its name or its rows.
std::string comparison_page(const std::string& sections);

}  // namespace lowtide::cli
