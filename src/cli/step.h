// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/plan.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"

namespace lowtide::cli {

// What the verbs plan with when the command line names no policy.
inline constexpr const char* kDefaultPolicy = "tide";

// A step on a machine, with nothing done to it: what every plan is measured against.
struct PlainStep {
  PlainStep(std::shared_ptr<const Trace> step_trace, Machine step_machine);

  Problem problem(std::int64_t budget_bytes) const;

  std::shared_ptr<const Trace> trace;
  Machine machine;
  plan::MemoryBounds memory;
  Timeline timeline;
};

// The same step under a plan, checked and simulated.
struct PlannedStep {
  Problem problem;
  Plan plan;
  Timeline timeline;
  LowerBounds bounds;
  // Time that the policy took; 0 for a plan from a file.
  double plan_seconds = 0;
  // It would have searched on, but for --think or Ctrl-C.
  bool was_stopped = false;
};

// A policy's refusal, and what it took.
struct RefusedStep {
  Refusal refusal;
  double plan_seconds = 0;
  // It might have found a plan, but for --think or Ctrl-C.
  bool was_stopped = false;
};

// A policy with its options set.
struct Planner {
  const PolicyInfo* info = nullptr;
  std::unique_ptr<Policy> policy;
  // A search ends after so long; 0: when it is through.
  double think_seconds = 0;
};

// Throws UsageError for a policy that is not in the catalogue, with the names that are.
const PolicyInfo& find_policy(const std::string& name);

// `options` are of the form KEY=VALUE. Throws UsageError.
Planner make_planner(const std::string& name, const std::vector<std::string>& options);

// Plans the step. A plan that verify() rejects throws InternalError: it is the policy's fault.
// `progress` is told now and then for how many seconds a search has been at it. While a StopSignal
// lives, a search takes its best so far when the signal comes.
std::variant<PlannedStep, RefusedStep> plan_step(const PlainStep& step, const Planner& planner,
                                                 std::int64_t budget_bytes,
                                                 const std::function<void(double)>& progress = {});

// The step under a plan from a file, within the plan's own budget. Throws InvalidInput, beginning
// with the name of the file, if verify() rejects it.
PlannedStep follow_plan(const PlainStep& step, Plan plan, const std::string& plan_file);

// The plain step as if a plan without actions were followed.
PlannedStep follow_nothing(const PlainStep& step);

// "no plan of dtr fits 1.00 GiB: ...": the budget, the reason, the hungriest op and what would do.
std::string refusal_message(const PlainStep& step, const std::string& policy,
                            std::int64_t budget_bytes, const RefusedStep& refused);

}  // namespace lowtide::cli
