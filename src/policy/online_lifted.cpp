// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/online_lifted.h"

#include <utility>

#include "plan/bounds.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

class OnlineLifted final : public Policy {
 public:
  OnlineLifted(std::string name, PolicyOptions options, MakeOnline make, sim::OnlineOptions online)
      : name_(std::move(name)),
        options_(std::move(options)),
        make_(std::move(make)),
        online_(online) {}

  PlanOutcome plan(const Problem& problem) const override {
    sim::OnlineRun run = run_at(problem, problem.budget_bytes);
    if (run.plan) {
      run.plan->policy = name_;
      run.plan->online = OnlineRule{.policy = name_, .options = options_};
      return *std::move(run.plan);
    }
    const plan::MemoryBounds bounds = plan::memory_bounds(*problem.trace, problem.machine);
    const std::int64_t smallest = smallest_budget(
        std::max(problem.budget_bytes, bounds.working_set_bytes - 1), bounds.plain_peak_bytes,
        [&](std::int64_t budget) { return run_at(problem, budget).plan.has_value(); });
    return Refusal{.reason = run.failure, .smallest_budget_bytes = smallest};
  }

 private:
  sim::OnlineRun run_at(const Problem& problem, std::int64_t budget_bytes) const {
    Problem at_budget = problem;
    at_budget.budget_bytes = budget_bytes;
    const std::unique_ptr<OnlinePolicy> online = make_();
    return sim::run_online(at_budget, *online, online_);
  }

  std::string name_;
  PolicyOptions options_;
  MakeOnline make_;
  sim::OnlineOptions online_;
};

}  // namespace

std::unique_ptr<Policy> lift(std::string name, PolicyOptions options, MakeOnline make,
                             sim::OnlineOptions online) {
  return std::make_unique<OnlineLifted>(std::move(name), std::move(options), std::move(make),
                                        online);
}

void read_replay_options(OptionReader& reader, sim::OnlineOptions& online) {
  online.keep_dead =
      reader.choice<bool>("dead", online.keep_dead, {{"drop", false}, {"keep", true}});
  online.max_replays_per_op = reader.number("max_replays", online.max_replays_per_op, 0, 1e6);
}

sim::OnlineOptions read_online_options(OptionReader& reader, sim::VictimSearch search) {
  sim::OnlineOptions online;
  online.search = reader.choice<sim::VictimSearch>("search", search,
                                                   {{"indexed", sim::VictimSearch::kIndexed},
                                                    {"all", sim::VictimSearch::kAll},
                                                    {"sqrt", sim::VictimSearch::kSqrt},
                                                    {"one", sim::VictimSearch::kOne}});
  online.ignore_below = reader.number("ignore_below", online.ignore_below, 0, 1);
  read_replay_options(reader, online);
  online.seed = static_cast<std::uint64_t>(reader.integer("seed", 1, 0, 1LL << 62));
  return online;
}

}  // namespace lowtide::policy
