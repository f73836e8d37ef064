// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "lowtide/trace.h"
#include "plan/online_deed.h"

namespace lowtide::report {

// The list "online" of a run's record; docs/report.md has its fields. The reader throws
// InvalidInput, naming the field.
std::vector<plan::OnlineDeed> parse_online_deeds(const base::JsonReader& run, const Trace& trace);
nlohmann::json online_deeds_json(const std::vector<plan::OnlineDeed>& deeds);

}  // namespace lowtide::report
