// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/comparison.h"

namespace lowtide::cli {

// Step time against budget as an SVG document, a line for each policy: what moves is drawn in reds,
// what recomputes in blues, what does both in greens. A policy's line ends where it refuses.
std::string comparison_plot(const PlainStep& step, const std::vector<ComparedPlan>& plans);

}  // namespace lowtide::cli
