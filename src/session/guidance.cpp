// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/guidance.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "session/surroundings.h"

namespace lowtide::session {
namespace {

// What is left free of the budget: a little, since no step is quite like the last; and more where
// the budget also caps what torch's allocator takes, which cannot use every byte of it. That is the
// widest margin that it asks for by itself.
constexpr std::int64_t kMarginShare = 20;
constexpr std::int64_t kReservedMarginShare = 10;
// The first step makes what later ones find: optimizer states, workspaces, tuned kernels.
constexpr std::int64_t kStepsBeforeCapture = 1;
constexpr std::size_t kMostPlans = 32;
constexpr std::int64_t kHostSlackShare = 8;
// The longest wait, in steps, after one was written down of which no plan came.
constexpr int kMostStepsUncaptured = 16;
// After so many guided steps a plan must have paid off.
constexpr int kTrialSteps = 12;
constexpr double kSlowerThanOnline = 1.03;
// How often the fetches of a plan are looked at, and what share of a step they must hold up.
constexpr int kLooksAtStalls = 4;
constexpr double kStallShare = 0.005;
// After so many steps in which the device had no room in one piece although the plan fits, one more
// such share of the budget is left free, and so often at most.
constexpr int kShortSteps = 2;
// So many steps after the first one blocks lie where they no longer have to be moved for others or
// be put together from pieces, or will not come to do so in the room that there is.
constexpr int kStepsToSettle = 6;
constexpr std::int64_t kWideningShare = 40;
constexpr int kMostWiderMargins = 4;
// After so many steps a plan that leaves more free must be quicker than the one before it.
constexpr int kMarginTrialSteps = 5;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double shortest(double best, double seconds) {
  return best == 0 ? seconds : std::min(best, seconds);
}

}  // namespace

void Guidance::resume() {
  run::Books::Lock lock(managed_.runtime.books());
  for (const PlanResult& planned : guided_) managed_.runtime.guide().add_plan(planned.guided);
}

void Guidance::begin_step() {
  // From the start of one step to that of the next: the device may be far behind the host.
  const double now = now_seconds();
  if (steps_ > 0) note_time(now - started_seconds_);
  started_seconds_ = now;
  if (planner_.is_busy()) {
    if (options_.waits_for_plans) {
      take_plan(planner_.wait());
    } else if (std::optional<PlanResult> result = planner_.poll()) {
      take_plan(*std::move(result));
    }
  }
  if (is_measuring_stalls_) take_stalls();
  const bool is_captured = may_capture();
  const bool is_guided = steps_unguided_ == 0 || !is_captured;
  if (!is_guided) --steps_unguided_;
  const bool is_timed = is_guided && wants_stalls();
  is_measuring_stalls_ = is_measuring_stalls_ || is_timed;
  shortages_before_ = managed_.device.ledger().shortages();
  makeshifts_before_ = makeshifts();
  managed_.runtime.begin_step(
      {.is_guided = is_guided, .is_timed = is_timed, .is_captured = is_captured});
}

bool Guidance::may_capture() {
  if (steps_ < kStepsBeforeCapture || planner_.is_busy() || times_.size() >= kMostPlans) {
    return false;
  }
  if (steps_unguided_ > 0 || steps_uncaptured_ == 0) return true;
  --steps_uncaptured_;
  return false;
}

// To write a step down takes time, on a GPU above all, which then waits for its host. One of a
// shape that fits, or that no plan could be made for, tells nothing new; others may come, but not
// soon if this one came so often.
void Guidance::note_capture(std::uint64_t shape, bool is_of_use) {
  Times& times = times_[shape];
  if (is_of_use || find_plan(shape) != guided_.end()) return;
  steps_uncaptured_ = std::min(times.captures_in_vain++, kMostStepsUncaptured);
}

// The first step under a plan moves things to where the plan expects them.
bool Guidance::wants_stalls() {
  if (is_measuring_stalls_ || planner_.is_busy()) return false;
  return std::any_of(guided_.begin(), guided_.end(), [this](const PlanResult& planned) {
    const Times& times = times_[planned.shape];
    return times.guided_steps > 0 && times.looks_at_stalls < kLooksAtStalls;
  });
}

// What came late starts earlier next time.
void Guidance::take_stalls() {
  std::optional<run::StepStalls> measured;
  {
    const run::Books::Lock lock(managed_.runtime.books());
    measured = managed_.runtime.guide().take_stalls();
  }
  if (!measured) return;
  is_measuring_stalls_ = false;
  // The plan that the step followed may have been replaced since.
  const auto planned = std::find_if(guided_.begin(), guided_.end(), [&](const PlanResult& one) {
    return one.guided == measured->step;
  });
  if (planned == guided_.end()) return;
  stall_seconds_ = 0;
  for (const engine::Stall& stall : measured->stalls) stall_seconds_ += stall.seconds;
  int& looks = times_[planned->shape].looks_at_stalls;
  ++looks;
  if (stall_seconds_ < kStallShare * planned->predicted_seconds) looks = kLooksAtStalls;
  if (looks == kLooksAtStalls || planner_.is_busy()) return;
  planner_.submit(planned->shape, [planned = *planned, stalls = std::move(measured->stalls)] {
    return hurry_plan(planned, stalls);
  });
}

std::vector<PlanResult>::iterator Guidance::find_plan(std::uint64_t shape) {
  return std::find_if(guided_.begin(), guided_.end(),
                      [shape](const PlanResult& one) { return one.shape == shape; });
}

// Of blocks that found no room in one piece.
std::int64_t Guidance::makeshifts() {
  run::Books& books = managed_.runtime.books();
  const run::Books::Lock lock(books);
  return managed_.device.stitches() + books.counters.relocations;
}

// The first step under a plan moves things to where the plan expects them.
void Guidance::note_shortages(std::uint64_t shape) {
  Times& times = times_[shape];
  const bool is_short =
      times.guided_steps > 0 && managed_.device.ledger().shortages() > shortages_before_;
  const bool is_cramped = times.guided_steps > kStepsToSettle && makeshifts() > makeshifts_before_;
  if ((!is_short && !is_cramped) || planner_.is_busy()) return;
  // Whether to leave this much free was right is not known yet.
  if (times.narrower) return;
  const auto planned = find_plan(shape);
  if (planned == guided_.end() || times.wider_margins == kMostWiderMargins) return;
  // It needs the help of the online rule anyway.
  if (planned->predicted_peak_bytes + planned->outside_bytes > options_.budget_bytes) return;
  if (++times.short_steps == kShortSteps) widen_margin(*planned, times);
}

// How much of the memory is in pieces too small to be used differs from model to model.
void Guidance::widen_margin(const PlanResult& planned, Times& times) {
  PlanRequest request{.step = planned.guided->captured(),
                      .problem = planned.problem,
                      .outside_bytes = planned.outside_bytes};
  request.problem.budget_bytes -= options_.budget_bytes / kWideningShare;
  if (request.problem.budget_bytes <= 0) return;
  // The new plan is looked at as if it were the first.
  times = {.online_seconds = times.online_seconds,
           .is_settled = true,
           .wider_margins = times.wider_margins + 1,
           .narrower = std::make_shared<const PlanResult>(planned),
           .narrower_seconds = times.guided_seconds};
  submit(std::move(request));
}

// To leave more of the memory free can cost more than what it saves.
void Guidance::drop_slow_margin(std::uint64_t shape, Times& times) {
  if (planner_.is_busy() || find_plan(shape) == guided_.end()) return;
  const std::shared_ptr<const PlanResult> narrower = std::exchange(times.narrower, nullptr);
  times.is_on_trial = false;
  if (times.narrower_seconds == 0 || times.guided_seconds <= times.narrower_seconds) return;
  times.wider_margins = kMostWiderMargins;
  times.guided_seconds = times.narrower_seconds;
  use_plan(*narrower);
}

std::int64_t Guidance::fetches_hurried() const {
  std::int64_t fetches = 0;
  for (const PlanResult& planned : guided_) fetches += planned.fetches_hurried;
  return fetches;
}

void Guidance::take_plan(PlanResult result) {
  Times& times = times_[result.shape];
  times.is_settled = true;
  if (times.is_dropped) return;
  if (times.narrower && !times.is_on_trial) begin_trial(times, result.guided != nullptr);
  // There was none with a wider margin.
  if (!result.guided && find_plan(result.shape) != guided_.end()) return;
  if (result.guided) {
    use_plan(std::move(result));
  } else {
    last_plan_ = std::move(result);
  }
}

// Steps went by the old plan until now.
void Guidance::begin_trial(Times& times, bool is_there) {
  if (!is_there) times.narrower = nullptr;
  times.is_on_trial = is_there;
  times.guided_steps = 0;
  times.guided_seconds = 0;
  times.looks_at_stalls = 0;
}

void Guidance::use_plan(PlanResult result) {
  const auto known = find_plan(result.shape);
  if (known != guided_.end()) guided_.erase(known);
  {
    run::Books::Lock lock(managed_.runtime.books());
    managed_.runtime.guide().add_plan(result.guided);
  }
  last_plan_ = result;
  guided_.push_back(std::move(result));
}

void Guidance::end_step(const StepUse& use) {
  run::Runtime& runtime = managed_.runtime;
  const bool was_captured = runtime.is_capturing();
  if (was_captured) runtime.stop_capture();
  ++steps_;
  const run::GuideStep last = last_guide_step();
  last_guided_shape_ = last.guided_shape;
  if (last.guided_shape != 0) note_shortages(last.guided_shape);
  // A step that turned out to be unlike all that are planned was not captured, since it began like
  // one of them. Others of its kind will come: next, or, if that was in vain, a little later. Some
  // kinds need no plan, and must not keep the others from following theirs.
  if (last.is_unknown && !was_captured && ++unknown_steps_ > searches_in_vain_) {
    unknown_steps_ = 0;
    steps_unguided_ = ++searches_in_vain_;
  }
  last_captured_shape_ = 0;
  if (!was_captured) return;
  engine::StepScript script = runtime.last_capture().script();
  last_captured_shape_ = script.shape();
  const bool is_wanted = use.evictions > 0 && !times_[last_captured_shape_].is_settled;
  note_capture(last_captured_shape_, is_wanted);
  if (is_wanted) {
    searches_in_vain_ = 0;
    submit(std::move(script));
  }
}

run::GuideStep Guidance::last_guide_step() {
  const run::Books::Lock lock(managed_.runtime.books());
  return managed_.runtime.guide().last_step();
}

void Guidance::note_time(double seconds) {
  if (last_guided_shape_ != 0) {
    Times& times = times_[last_guided_shape_];
    // The first one moves things to where the plan expects them.
    if (++times.guided_steps > 1) times.guided_seconds = shortest(times.guided_seconds, seconds);
    if (times.guided_steps >= kMarginTrialSteps && times.is_on_trial) {
      drop_slow_margin(last_guided_shape_, times);
    }
    if (times.guided_steps == kTrialSteps) drop_slow_plan(last_guided_shape_, times);
  } else if (last_captured_shape_ != 0) {
    Times& times = times_[last_captured_shape_];
    times.online_seconds = shortest(times.online_seconds, seconds);
  }
}

void Guidance::drop_slow_plan(std::uint64_t shape, Times& times) {
  if (times.online_seconds == 0) return;
  if (times.guided_seconds <= kSlowerThanOnline * times.online_seconds) return;
  ++plans_dropped_;
  times.is_dropped = true;
  run::Books::Lock lock(managed_.runtime.books());
  managed_.runtime.guide().remove_plan(shape);
  std::erase_if(guided_, [shape](const PlanResult& one) { return one.shape == shape; });
}

void Guidance::submit(engine::StepScript script) {
  engine::CapturedStep step = {
      .trace = std::make_shared<const Trace>(managed_.runtime.captured("step")),
      .script = std::move(script)};
  const std::int64_t outside = session::outside_bytes(managed_, *step.trace);
  Problem problem = problem_for(step.trace, outside);
  if (problem.budget_bytes <= 0) return;
  submit({.step = std::move(step), .problem = std::move(problem), .outside_bytes = outside});
}

void Guidance::submit(PlanRequest request) {
  // What lies on the host is in pieces too.
  request.reserve_host = [this](std::int64_t bytes) {
    managed_.device.reserve_host(bytes + bytes / kHostSlackShare);
  };
  const std::uint64_t shape = request.step.script.shape();
  planner_.submit(shape,
                  [this, request = std::move(request)] { return plan_step(request, policies_); });
}

Problem Guidance::problem_for(const std::shared_ptr<const Trace>& trace,
                              std::int64_t outside) const {
  const std::int64_t room = options_.budget_bytes - outside;
  const std::int64_t margin =
      options_.caps_reserved ? options_.budget_bytes / kReservedMarginShare : room / kMarginShare;
  return {.trace = trace,
          .machine = machine_around(*trace, managed_.device, options_),
          .budget_bytes = room - margin};
}

}  // namespace lowtide::session
