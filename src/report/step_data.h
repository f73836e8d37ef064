// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "report/names.h"
#include "report/page_data.h"
#include "report/peak.h"
#include "report/study.h"

namespace lowtide::report {

// What the charts show of memory, at so many moments at most.
nlohmann::json memory_data(const Timeline& timeline, std::size_t most, Names& names);

// One simulated step for a page: figures, memory over time, what device and links were busy with,
// stalls.
nlohmann::json step_data(const SimulatedStep& step, const Peak& peak, const PageDetail& detail,
                         Names& names);

// A time in which the device did nothing.
struct Gap {
  double start_seconds = 0;
  double end_seconds = 0;
  StallCause cause = StallCause::kHost;
  // Before which op, and what was waited for; not valid where that is the host.
  OpId op{};
  ValueId value{};
};

// In order of time. Where the simulator names several causes for one gap, it is that which took
// longest.
std::vector<Gap> gaps_of(const SimulatedStep& step);

}  // namespace lowtide::report
