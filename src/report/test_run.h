// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plan/text.h"
#include "report/run_record.h"
#include "trace/text.h"

namespace lowtide::report {

// For tests. Runs plain at 0-1, 1-2, 2-12, 12-22 and 22-23 seconds; a lies idle from 2 to 22. Host
// memory takes and gives a byte a second.
inline constexpr std::string_view kIdleStep = R"(
storage w 2 parameter start end
storage a 4 activation
storage b 3 activation
storage c 2 activation
storage e 5 activation
storage d 1 activation end
op f0 forward layer=first : w -> a
op f1 forward layer=second : a -> b
op f2 forward layer=second device=10 : b -> c
op f3 forward layer=third device=10 workspace=7 : c -> e
op f4 forward layer=last : a e -> d
)";

// A record of that step on the unit machine; with a plan if actions are given.
inline RunRecord test_record(std::string_view trace_text = kIdleStep, std::string_view actions = {},
                             std::int64_t budget_bytes = 0) {
  RunRecord record;
  record.title = "a test";
  record.device = "cuda:0";
  record.policy = "test";
  record.budget_bytes = budget_bytes;
  record.trace = std::make_shared<const Trace>(
      trace::parse_text("lowtide-trace 1\nname test\n" + std::string(trace_text)));
  record.machine = unit_machine();
  if (actions.empty()) return record;
  const std::string head = "lowtide-plan 1\npolicy test\ntrace " + digest(*record.trace) +
                           "\nbudget " + std::to_string(budget_bytes) + "\n";
  record.plan = plan::parse_text(head + std::string(actions),
                                 {.trace = record.trace, .machine = record.machine});
  return record;
}

}  // namespace lowtide::report
