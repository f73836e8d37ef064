// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lowtide/policy.h"
#include "run/engine/guided_step.h"
#include "run/engine/stalls.h"

namespace lowtide::session {

// A step to be planned.
struct PlanRequest {
  engine::CapturedStep step;
  Problem problem;
  // What lies on the device beside what the step's trace knows of.
  std::int64_t outside_bytes = 0;
  // Called with the host memory that the plan takes, on the planner's thread.
  std::function<void(std::int64_t bytes)> reserve_host{};
};

struct PlanResult {
  std::uint64_t shape = 0;
  // Null: there is no plan, and `reason` says why.
  std::shared_ptr<const engine::GuidedStep> guided;
  std::string reason;
  double plan_seconds = 0;
  // By the simulator.
  double predicted_seconds = 0;
  std::int64_t predicted_peak_bytes = 0;
  // Of the request; not among those of the peak.
  std::int64_t outside_bytes = 0;
  std::int64_t predicted_host_bytes = 0;
  // What the plan was made for: the request's, with the budget that was reached.
  Problem problem{};
  // How many of its fetches were made to start earlier since.
  std::int64_t fetches_hurried = 0;
};

// Plans one step, checks the plan and simulates it. If the policy cannot reach the budget but comes
// close, its tightest plan is taken: the online rule does the rest.
// Of several policies, the plan that the simulator finds quickest is taken.
PlanResult plan_step(const PlanRequest& request,
                     const std::vector<std::unique_ptr<Policy>>& policies);

// The same plan, with fetches that came late started earlier; or just the same.
PlanResult hurry_plan(const PlanResult& planned, const std::vector<engine::Stall>& stalls);

// Makes plans beside the training, one at a time. Used by one thread.
class BackgroundPlanner {
 public:
  BackgroundPlanner() = default;
  // Waits for the plan under way.
  ~BackgroundPlanner();
  BackgroundPlanner(const BackgroundPlanner&) = delete;
  BackgroundPlanner& operator=(const BackgroundPlanner&) = delete;

  bool is_busy() const { return worker_.joinable(); }
  // Requires: not busy. `shape` is that of the step; what `plan` throws becomes a reason.
  void submit(std::uint64_t shape, std::function<PlanResult()> plan);
  // What has become of it, as soon as it is known.
  std::optional<PlanResult> poll();
  // The same, but waits. Requires: busy.
  PlanResult wait();

 private:
  std::thread worker_;
  std::mutex mutex_;
  std::optional<PlanResult> result_;  // Guarded by mutex_.
};

}  // namespace lowtide::session
