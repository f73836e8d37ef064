// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::contract {

// A step that the suite plans, by name; it is read or made when a test asks for it.
struct TraceCase {
  enum class Source : std::uint8_t {
    kSmall,     // one of support::small_steps()
    kRandom,    // support::random_trace, the seed is the number in the name
    kRecorded,  // data/traces/<name>.trace
    kDtrLog,    // one of the logs published with DTR, which may not be there
  };
  Source source = Source::kSmall;
  std::string name;
};

// As tests print it.
void PrintTo(const TraceCase& which, std::ostream* out);

std::vector<TraceCase> trace_cases(TraceCase::Source source);

// The step on its machine, without a budget: the unit machine for small and random ones, an H200
// for the others. No trace if it is a log and the logs are not there.
Problem load(const TraceCase& which);

}  // namespace lowtide::contract
