// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "ctdr/run.h"

namespace lowtide::cli {

// What `lowtide decompose` prints: each layer with what it became and why, then memory, time and
// accuracy before and after.
std::string decompose_text(const ctdr::Report& report, const Style& style);
nlohmann::json decompose_json(const ctdr::Report& report);

}  // namespace lowtide::cli
