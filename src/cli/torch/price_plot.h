// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "train/price_curve.h"

namespace lowtide::cli {

// The curve as an SVG: step time over plain's against the budget, with the spread of the rounds,
// a line for plain, and marks where a budget was refused. Requires: at least one round.
std::string price_plot(const train::PriceCurve& curve);

}  // namespace lowtide::cli
