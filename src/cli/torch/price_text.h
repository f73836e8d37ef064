// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "train/price_curve.h"

// A price curve in words. Requires of all: at least one round.

namespace lowtide::cli {

// A row for each budget, and what is to be said of the losses.
std::string price_text(const train::PriceCurve& curve, const Style& style);
nlohmann::json price_json(const train::PriceCurve& curve);

// Whether every loss is plain's.
bool losses_are_plains(const train::PriceCurve& curve);

// kFailed if they are not, kDoesNotFit if no budget can be kept.
ExitCode price_exit_code(const train::PriceCurve& curve);

}  // namespace lowtide::cli
