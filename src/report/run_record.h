// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "lowtide/machine.h"
#include "lowtide/plan.h"
#include "lowtide/trace.h"
#include "plan/online_deed.h"
#include "policy/allowed_means.h"

namespace lowtide::report {

// What a run leaves behind for a report: one of its steps, and what was done with it.
struct RunRecord {
  // The model, or whatever the user calls the run.
  std::string title;
  // As sessions name it ("cuda:0", "cpu").
  std::string device;
  // Who decided: a policy of the catalogue, "online" for the rule of the running half, or empty.
  std::string policy;
  // 0: none.
  std::int64_t budget_bytes = 0;
  // What lay on the device beside what the step uses; part of the budget.
  std::int64_t outside_bytes = 0;
  // Examples a step; 0: not known.
  std::int64_t batch = 0;
  std::shared_ptr<const Trace> trace;
  Machine machine;
  // What the run might do to make room.
  policy::AllowedMeans allowed;
  // The plan that was carried out; none for the online rule.
  std::optional<Plan> plan;
  // What the online rule did in this very step, in order; nothing beside a plan, and where that is
  // not known.
  std::optional<std::vector<plan::OnlineDeed>> online;
  // False for a step that nobody ran under a budget: a trace from a file. Not written.
  bool was_run = true;
  // SessionStats by its names: an object of numbers and strings.
  nlohmann::json statistics = nlohmann::json::object();
  // Measured; empty if not.
  std::vector<double> step_seconds;

  // What the step itself may take; 0: no limit.
  std::int64_t step_budget_bytes() const;
};

// JSON with "format": "lowtide-run" and "version": 1; docs/report.md has the fields. The reader
// throws InvalidInput, naming the field; parse_run_record(print_run_record(r)) is r.
RunRecord parse_run_record(std::string_view text);
std::string print_run_record(const RunRecord& record);

// Whether the text claims to be one, so that it is read as such and its faults are told.
bool is_run_record(std::string_view text);

}  // namespace lowtide::report
