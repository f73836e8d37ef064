// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "lowtide/plan.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "report/run_record.h"
#include "sim/step_log.h"

namespace lowtide::report {

// Who plans where the record holds no plan, and who finds out what other budgets would cost.
inline constexpr const char* kPredictingPolicy = "tide";

// A step as the simulator has it under a plan.
struct SimulatedStep {
  Problem problem;
  Plan plan;
  Timeline timeline;
  sim::StepLog log;
};

SimulatedStep simulate_step(Problem problem, Plan plan);

// The step with nothing done to it.
SimulatedStep simulate_plain(const RunRecord& record);

// The step of a record, before and after. The record must outlive it.
struct Study {
  explicit Study(const RunRecord& its_record) : record(its_record) {}

  const RunRecord& record;
  plan::MemoryBounds memory;
  SimulatedStep plain;
  // None without a budget, or if nobody has a plan that keeps it.
  std::optional<SimulatedStep> planned;
  // The plan was not carried out by the run but made for this study.
  bool is_predicted = false;
  // Why there is no plan.
  std::optional<Refusal> refusal;
  double plan_seconds = 0;

  const Trace& trace() const { return *record.trace; }
  const Machine& machine() const { return record.machine; }
  // Under the plan if there is one.
  const SimulatedStep& after() const { return planned ? *planned : plain; }
};

// Simulates the step plain and under its plan; where there is a budget but no plan, has one made,
// in about so many seconds. Throws InvalidInput if the record's plan does not work.
Study study(const RunRecord& record, double think_seconds);

// Plans with a search that ends after so many seconds, and verifies.
std::variant<SimulatedStep, Refusal> plan_within(const RunRecord& record, const Policy& policy,
                                                 std::int64_t budget_bytes, double think_seconds);

}  // namespace lowtide::report
