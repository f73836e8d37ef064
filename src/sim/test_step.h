// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/errors.h"
#include "lowtide/plan.h"
#include "lowtide/simulate.h"
#include "plan/text.h"
#include "trace/text.h"

namespace lowtide::sim {

// For tests: a step and its plans as text, on the unit machine unless a test changes that. Trace
// text comes without its first two lines, plan text is actions only.
struct TestStep {
  explicit TestStep(std::string_view trace_text, std::int64_t budget_bytes = 1000) {
    const std::string header = "lowtide-trace 1\nname test\n";
    problem.trace =
        std::make_shared<const Trace>(trace::parse_text(header + std::string(trace_text)));
    problem.machine = unit_machine();
    problem.budget_bytes = budget_bytes;
  }

  Plan plan(std::string_view actions) const {
    const std::string header = "lowtide-plan 1\npolicy test\ntrace " + digest(*problem.trace) +
                               "\nbudget " + std::to_string(problem.budget_bytes) + "\n";
    return plan::parse_text(header + std::string(actions), problem);
  }

  Timeline run(std::string_view actions) const { return simulate(problem, plan(actions)); }

  std::string name(ValueId value) const {
    return value.valid() ? problem.trace->value_name(value) : "nothing";
  }

  // The lines of a plan's text form below its head, whoever made it.
  std::string actions(Plan plan) const {
    plan.policy = "test";
    std::string text = plan::print_text(plan, problem);
    for (int line = 0; line < 4; ++line) text.erase(0, text.find('\n') + 1);
    return text;
  }

  // What the checker finds wrong with a plan, one line each.
  std::string faults(const Plan& plan) const {
    std::string text;
    for (const Violation& violation : verify(problem, plan).violations) {
      text += violation.message + "\n";
    }
    return text;
  }

  ValueId value(std::string_view wanted) const {
    for (std::size_t i = 0; i < problem.trace->values().size(); ++i) {
      if (name(make_id<ValueId>(i)) == wanted) return make_id<ValueId>(i);
    }
    throw InvalidInput("no value " + std::string(wanted));
  }

  // "fetch a.0 at 4 for 2.5;" for every stall.
  std::string stalls(const Timeline& timeline) const;

  Problem problem;
};

inline std::string TestStep::stalls(const Timeline& timeline) const {
  std::string text;
  for (const Stall& stall : timeline.stalls) {
    std::string seconds = std::to_string(stall.seconds);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.') seconds.pop_back();
    text += std::string(to_string(stall.cause)) + " " + name(stall.value) + " at " +
            std::to_string(stall.op.index) + " for " + seconds + ";";
  }
  return text;
}

}  // namespace lowtide::sim
