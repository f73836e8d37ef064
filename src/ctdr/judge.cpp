// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/judge.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "base/check.h"
#include "lowtide/plan.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "session/policies.h"
#include "train/profile.h"

namespace lowtide::ctdr {
namespace {

using Clock = std::chrono::steady_clock;

Timeline plain_timeline(const std::shared_ptr<const Trace>& trace, const Machine& machine,
                        std::int64_t peak_bytes) {
  const Problem problem = {.trace = trace, .machine = machine, .budget_bytes = peak_bytes};
  Plan nothing;
  nothing.policy = "keep_all";
  nothing.trace_digest = digest(*trace);
  nothing.budget_bytes = peak_bytes;
  return simulate(problem, nothing);
}

}  // namespace

JudgeOptions judge_as_in(const SessionOptions& session, Machine machine) {
  // The first is host memory, which is behind the device in any case.
  if (session.spill_dir.empty() && machine.tiers.size() > 1) machine.tiers.resize(1);
  const bool is_named = session.policy != "auto" && session.policy != "online";
  return {.machine = std::move(machine),
          .policy = is_named ? session.policy : "tide",
          .means = session.means};
}

Judgement judge_trace(std::shared_ptr<const Trace> trace, const JudgeOptions& options) {
  Judgement result;
  result.plain_peak_bytes = plan::memory_bounds(*trace, options.machine).plain_peak_bytes;
  const Timeline plain = plain_timeline(trace, options.machine, result.plain_peak_bytes);
  result.plain_seconds = plain.seconds;
  for (const TickUse& use : plain.ticks) {
    if (use.op == plain.peak_op) result.plain_bytes = use.bytes;
  }
  const Clock::time_point start = Clock::now();
  Problem problem = {.trace = trace,
                     .machine = options.machine,
                     .budget_bytes = options.budget_bytes,
                     .should_stop = [&] {
                       const std::chrono::duration<double> taken = Clock::now() - start;
                       return taken.count() > options.think_seconds;
                     }};
  // A refusal would rule the forms out, and a step that only copies can still be taken.
  PolicyOptions policy_options;
  if (options.policy == "tide") policy_options = {{"last_resort", "yes"}};
  const PlanOutcome outcome =
      session::policy_within(options.policy, options.means, policy_options)->plan(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&outcome)) {
    result.smallest_budget_bytes = refusal->smallest_budget_bytes;
    return result;
  }
  const Plan& plan = std::get<Plan>(outcome);
  problem.should_stop = nullptr;
  const Verdict verdict = verify(problem, plan);
  LT_CHECK(verdict.ok(), "policy ", options.policy,
           " made a plan that is wrong: ", verdict.violations.front().message);
  const Timeline planned = simulate(problem, plan);
  result.planned_seconds = planned.seconds;
  result.planned_peak_bytes = planned.peak_bytes;
  result.smallest_budget_bytes = options.budget_bytes;
  return result;
}

std::optional<Judgement> judge(train::TrainingOptions training, const JudgeOptions& options,
                               const train::Hooks& hooks) {
  train::Hooks quiet = hooks;
  quiet.say = [](const std::string&) {};
  std::optional<train::Profile> profile = train::profile(training, quiet);
  if (!profile) return std::nullopt;
  return judge_trace(std::make_shared<const Trace>(std::move(profile->trace)), options);
}

}  // namespace lowtide::ctdr
