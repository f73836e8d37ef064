// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/alternatives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace lowtide::report {
namespace {

using Clock = std::chrono::steady_clock;

// Shares of the plain peak that are planned for, in the order in which they are most telling.
constexpr std::array<double, 9> kShares{0.5, 0.8, 0.3, 0.65, 0.4, 0.9, 0.2, 0.72, 0.57};
// What one plan of a curve may take, at most.
constexpr double kLongestPlan = 1.5;

// Those that plan a step of a thousand ops in about a second, one of each sort first. The others
// are what `lowtide compare` is for.
constexpr std::array<const char*, 14> kQuickPolicies{
    "tide", "capuchin",  "dtr",  "sublinear",     "superneurons", "knapsack", "belady",
    "vdnn", "selective", "coop", "dtr_megengine", "vdnn_pp",      "modnn",    "sentinel"};

class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  double left_seconds() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  bool is_over() const { return left_seconds() <= 0; }

 private:
  Clock::time_point end_;
};

Alternative try_policy(const RunRecord& record, const std::string& name, const Policy& policy,
                       std::int64_t budget_bytes, double think_seconds) {
  const Clock::time_point start = Clock::now();
  auto outcome = plan_within(record, policy, budget_bytes, think_seconds);
  Alternative result;
  if (const SimulatedStep* step = std::get_if<SimulatedStep>(&outcome)) {
    result = as_alternative(*step);
  } else {
    result.refusal = std::get<Refusal>(std::move(outcome));
  }
  result.policy = name;
  result.budget_bytes = budget_bytes;
  result.plan_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::unique_ptr<Policy> quick_tide(const RunRecord& record) {
  const PolicyInfo& info = policy_named(kPredictingPolicy);
  PolicyOptions options = policy::options_within(info, record.allowed).value();
  options.insert({{"tries", "24"}, {"floor", "no"}});
  return info.make(options);
}

bool is_quicker(const Alternative& a, const Alternative& b) {
  if (a.refusal || b.refusal) return !a.refusal && b.refusal;
  return std::pair(a.seconds, a.peak_bytes) < std::pair(b.seconds, b.peak_bytes);
}

// Too near for two points of a curve.
bool is_near(std::int64_t a, std::int64_t b) { return std::abs(a - b) * 50 < std::max(a, b); }

const PolicyInfo* find_policy(const char* name) {
  for (const PolicyInfo& info : catalogue()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

// Where more memory seems to make a step slower, it was the search that ended too early: a plan for
// a smaller budget fits a larger one too.
void smooth(std::vector<Alternative>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const bool is_worse = !points[i].refusal && !points[i - 1].refusal && !points[i].is_shown &&
                          points[i].seconds > points[i - 1].seconds;
    if (!is_worse) continue;
    const std::int64_t budget_bytes = points[i].budget_bytes;
    points[i] = points[i - 1];
    points[i].budget_bytes = budget_bytes;
    points[i].is_shown = false;
  }
}

}  // namespace

Alternative as_alternative(const SimulatedStep& step) {
  Alternative result;
  result.policy = step.plan.policy;
  result.budget_bytes = step.problem.budget_bytes;
  result.seconds = step.timeline.seconds;
  result.peak_bytes = step.timeline.peak_bytes;
  for (const LinkUse& link : step.timeline.links) result.moved_bytes += link.bytes;
  result.recompute_seconds = step.timeline.recompute_seconds;
  result.stall_seconds = step.timeline.total_stall_seconds();
  return result;
}

std::vector<Alternative> price_budgets(const Study& study, double seconds) {
  const Deadline deadline(seconds);
  const std::unique_ptr<Policy> policy = quick_tide(study.record);
  const std::int64_t peak = study.memory.plain_peak_bytes;
  std::vector<Alternative> points{as_alternative(study.plain)};
  points.front().budget_bytes = peak;
  if (study.planned && study.planned->problem.budget_bytes < peak) {
    points.push_back(as_alternative(*study.planned));
    points.back().is_shown = true;
  }
  for (const double share : kShares) {
    const auto budget = static_cast<std::int64_t>(share * static_cast<double>(peak));
    const bool is_there = study.planned && is_near(budget, study.planned->problem.budget_bytes);
    if (deadline.is_over() || is_there || budget < study.memory.working_set_bytes) continue;
    points.push_back(try_policy(study.record, kPredictingPolicy, *policy, budget,
                                std::min(kLongestPlan, deadline.left_seconds())));
  }
  std::sort(points.begin(), points.end(), [](const Alternative& a, const Alternative& b) {
    return a.budget_bytes < b.budget_bytes;
  });
  smooth(points);
  return points;
}

std::vector<Alternative> compare_policies(const Study& study, double seconds) {
  std::vector<Alternative> compared;
  if (study.record.budget_bytes == 0) return compared;
  const Deadline deadline(seconds);
  const std::int64_t budget =
      study.planned ? study.planned->problem.budget_bytes : study.record.step_budget_bytes();
  if (study.planned) {
    compared.push_back(as_alternative(*study.planned));
    compared.back().is_shown = true;
    compared.back().plan_seconds = study.plan_seconds;
  }
  for (const char* name : kQuickPolicies) {
    const PolicyInfo* info = find_policy(name);
    const bool is_known = !compared.empty() && compared.front().policy == name;
    if (info == nullptr || is_known || deadline.is_over()) continue;
    const auto options = policy::options_within(*info, study.record.allowed);
    if (!options) continue;
    compared.push_back(try_policy(study.record, name, *info->make(*options), budget,
                                  std::min(kLongestPlan, deadline.left_seconds())));
  }
  std::stable_sort(compared.begin(), compared.end(), is_quicker);
  return compared;
}

}  // namespace lowtide::report
