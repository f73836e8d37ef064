// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/console.h"
#include "lowtide/machine.h"
#include "lowtide/trace.h"
#include "plan/bounds.h"
#include "trace/summary.h"

// What `lowtide check` tells of a trace.

namespace lowtide::cli {

struct TraceFacts {
  trace::Summary summary;
  plan::MemoryBounds memory;
  std::string digest;
  std::string machine;
  // Of all ops on the device, those that were not measured as the machine's roofline has them.
  double compute_seconds = 0;
};

TraceFacts trace_facts(const Trace& trace, const Machine& machine);
std::string facts_text(const Trace& trace, const TraceFacts& facts, const Style& style);
nlohmann::json facts_json(const Trace& trace, const TraceFacts& facts);

}  // namespace lowtide::cli
