// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "train/report.h"
#include "train/verify.h"

// What `train` and `verify` print for programs. Only what was measured is there.

namespace lowtide::cli {

nlohmann::json report_json(const train::Report& report);
// "identical" is null if fewer steps were compared than asked for and nothing was found in these.
nlohmann::json verdict_json(const train::Verdict& verdict);

}  // namespace lowtide::cli
