// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>

#include "run/tier/spill_file.h"
#include "session/attendance.h"
#include "session/background_planner.h"
#include "session/devices.h"

namespace lowtide::session {

// What a step is planned for.
struct GuidanceOptions {
  std::int64_t budget_bytes = 0;
  std::int64_t host_cap_bytes = 0;
  // Behind host memory; null: nothing is.
  std::shared_ptr<const tier::SpillFile> spill_file;
  // What torch's allocator takes from the device is capped too.
  bool caps_reserved = true;
  bool expandable_segments = true;
  // See Machine.
  std::int64_t most_bytes_in_flight = std::numeric_limits<std::int64_t>::max();
  // Training waits for each plan: for tests.
  bool waits_for_plans = false;
};

// Sees to it that steps which do not fit are planned once, and guided from then on. A plan that
// proves slower than the online rule is dropped.
class Guidance {
 public:
  Guidance(ManagedDevice& managed, std::vector<std::unique_ptr<Policy>> policies,
           const GuidanceOptions& options)
      : managed_(managed), policies_(std::move(policies)), options_(options) {}
  // Waits for the plan under way. Its steps may be guided on, until Runtime::stop_guiding().
  ~Guidance() = default;
  Guidance(const Guidance&) = delete;
  Guidance& operator=(const Guidance&) = delete;

  // Another session, inside this one, was guided meanwhile by plans of its own.
  void resume();

  // Around each step whose ops are watched.
  void begin_step();
  void end_step(const StepUse& use);

  // The last plan that was made, or why there is none.
  const PlanResult& last_plan() const { return last_plan_; }
  // The last one that steps are carried out by; null without any.
  const PlanResult* plan_in_use() const { return guided_.empty() ? nullptr : &guided_.back(); }
  std::int64_t plans() const { return static_cast<std::int64_t>(guided_.size()) + plans_dropped_; }
  std::int64_t plans_dropped() const { return plans_dropped_; }
  // How long the device stood still for fetches in the last step in which that was measured.
  double stall_seconds() const { return stall_seconds_; }
  std::int64_t fetches_hurried() const;

 private:
  // How long steps of one shape took, without and with a plan.
  struct Times {
    // 0: not measured.
    double online_seconds = 0;
    int guided_steps = 0;
    double guided_seconds = 0;
    // No further plan is made for them.
    bool is_settled = false;
    // How often one was written down of which no plan came.
    int captures_in_vain = 0;
    // Their plan was slower than the online rule: what is being made of it is not wanted any more.
    bool is_dropped = false;
    // How often it was measured what the plan's fetches hold up.
    int looks_at_stalls = 0;
    // Steps under the plan in which the device had no room all the same, or none in one piece, and
    // how often a plan that leaves more of it was made for that.
    int short_steps = 0;
    int wider_margins = 0;
    // The plan with the narrower margin, and how long steps took with that; none: there was none.
    std::shared_ptr<const PlanResult> narrower;
    double narrower_seconds = 0;
    // The wider one is there.
    bool is_on_trial = false;
  };

  bool may_capture();
  void note_capture(std::uint64_t shape, bool is_of_use);
  void take_plan(PlanResult result);
  run::GuideStep last_guide_step();
  void note_time(double seconds);
  void submit(engine::StepScript script);
  void submit(PlanRequest request);
  bool wants_stalls();
  void take_stalls();
  std::int64_t makeshifts();
  void note_shortages(std::uint64_t shape);
  void widen_margin(const PlanResult& planned, Times& times);
  void drop_slow_margin(std::uint64_t shape, Times& times);
  static void begin_trial(Times& times, bool is_there);
  void use_plan(PlanResult result);
  std::vector<PlanResult>::iterator find_plan(std::uint64_t shape);
  void drop_slow_plan(std::uint64_t shape, Times& times);
  Problem problem_for(const std::shared_ptr<const Trace>& trace, std::int64_t outside) const;

  ManagedDevice& managed_;
  const std::vector<std::unique_ptr<Policy>> policies_;
  const GuidanceOptions options_;
  PlanResult last_plan_;
  // Those that were not dropped.
  std::vector<PlanResult> guided_;
  std::int64_t plans_dropped_ = 0;
  // By StepScript::shape().
  std::unordered_map<std::uint64_t, Times> times_;
  std::int64_t steps_ = 0;
  // Of the last step: by a plan, or only known from a capture; 0: not known.
  std::uint64_t last_guided_shape_ = 0;
  std::uint64_t last_captured_shape_ = 0;
  // How many steps to come are captured whether or not there is a plan for them, and how many are
  // not, unless they are among those.
  int steps_unguided_ = 0;
  int steps_uncaptured_ = 0;
  int searches_in_vain_ = 0;
  // Since the last search.
  int unknown_steps_ = 0;
  double started_seconds_ = 0;
  // When the step began.
  std::int64_t shortages_before_ = 0;
  std::int64_t makeshifts_before_ = 0;
  bool is_measuring_stalls_ = false;
  double stall_seconds_ = 0;
  // Last, since it uses the policies.
  BackgroundPlanner planner_;
};

}  // namespace lowtide::session
