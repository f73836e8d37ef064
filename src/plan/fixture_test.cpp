// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/fixture_test.h"

#include <memory>

#include "lowtide/errors.h"
#include "plan/text.h"
#include "trace/text.h"

namespace lowtide::plan {

Problem problem_of(std::string_view trace_lines, std::int64_t budget_bytes) {
  const std::string text = "lowtide-trace 1\nname test\n" + std::string(trace_lines);
  Problem problem;
  problem.trace = std::make_shared<const Trace>(trace::parse_text(text));
  problem.machine = unit_machine();
  problem.budget_bytes = budget_bytes;
  return problem;
}

Plan plan_of(const Problem& problem, std::string_view action_lines) {
  const std::string head = "lowtide-plan 1\npolicy test\ntrace " + digest(*problem.trace) +
                           "\nbudget " + std::to_string(problem.budget_bytes) + "\n";
  return parse_text(head + std::string(action_lines), problem);
}

Verdict verdict_of(const Problem& problem, std::string_view action_lines) {
  return verify(problem, plan_of(problem, action_lines));
}

std::string violations_of(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) {
    text += std::string(to_string(violation.kind)) + ": " + violation.message + "\n";
  }
  return text;
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

}  // namespace lowtide::plan
