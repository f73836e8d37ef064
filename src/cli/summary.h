// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/step.h"

// A simulated step in numbers: as JSON, with the names that all verbs share, and for people.

namespace lowtide::cli {

// What a plan costs and saves: one flat object.
nlohmann::json summary_json(const PlainStep& plain, const PlannedStep& planned);

// summary_json and the details: stalls by cause and the longest of them, links, tiers, bounds.
nlohmann::json report_json(const PlainStep& plain, const PlannedStep& planned);

nlohmann::json refusal_json(const PlainStep& plain, const std::string& policy,
                            std::int64_t budget_bytes, const RefusedStep& refused);

// Says that no plan fits, on standard error and, if asked, as JSON too.
ExitCode report_refusal(const PlainStep& plain, const Planner& planner, std::int64_t budget_bytes,
                        const RefusedStep& refused, bool as_json, Console& console);

// The report for people, a fact a line.
std::string report_text(const PlainStep& plain, const PlannedStep& planned, const Style& style);

// Two lines: what the plan comes to, and its actions by sort.
std::string summary_text(const PlainStep& plain, const PlannedStep& planned);

}  // namespace lowtide::cli
