// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/algorithms.h"

#include <algorithm>

#include "policy/op_kinds.h"

namespace lowtide::policy {
namespace {

std::vector<Algorithm> all_ways(const Problem& problem, const cost::CostTable& costs, OpId id) {
  std::vector<Algorithm> ways{{-1, costs.op(id), costs.workspace(id)}};
  const std::vector<Implementation>& options = problem.trace->op(id).options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const Implementation& option = options[i];
    if (option.on_host || option.reads_host) continue;
    if (!option.bit_exact && !problem.allow_lossy) continue;
    ways.push_back({static_cast<std::int32_t>(i), option.seconds,
                    cost::device_bytes(option.workspace_bytes, problem.machine)});
  }
  return ways;
}

// Each takes longer than the one before it and less workspace.
std::vector<Algorithm> unbeaten(std::vector<Algorithm> ways) {
  std::stable_sort(ways.begin(), ways.end(), [](const Algorithm& a, const Algorithm& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.workspace_bytes < b.workspace_bytes;
  });
  std::vector<Algorithm> front;
  for (const Algorithm& way : ways) {
    if (front.empty() || way.workspace_bytes < front.back().workspace_bytes) front.push_back(way);
  }
  return front;
}

}  // namespace

ConvolutionAlgorithms::ConvolutionAlgorithms(const Problem& problem)
    : traced_(*problem.trace, problem.machine) {
  for (std::size_t i = 0; i < problem.trace->ops().size(); ++i) {
    const Op& op = problem.trace->ops()[i];
    if (op.options.empty() || !convolves(op)) continue;
    const auto id = make_id<OpId>(i);
    ops_.push_back(id);
    ways_.push_back(unbeaten(all_ways(problem, traced_, id)));
  }
}

ConvolutionAlgorithms::Choice ConvolutionAlgorithms::as_traced() const {
  Choice choice;
  for (const OpId op : ops_) choice.push_back({-1, traced_.op(op), traced_.workspace(op)});
  return choice;
}

ConvolutionAlgorithms::Choice ConvolutionAlgorithms::quickest() const {
  Choice choice;
  for (const std::vector<Algorithm>& ways : ways_) choice.push_back(ways.front());
  return choice;
}

ConvolutionAlgorithms::Choice ConvolutionAlgorithms::leanest() const {
  Choice choice;
  for (const std::vector<Algorithm>& ways : ways_) choice.push_back(ways.back());
  return choice;
}

ConvolutionAlgorithms::Choice ConvolutionAlgorithms::quickest_within(
    std::int64_t budget_bytes, const std::vector<std::int64_t>& bytes_beside) const {
  Choice choice;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const std::int64_t room = budget_bytes - bytes_beside[ops_[i].slot()];
    const auto fits = std::find_if(ways_[i].begin(), ways_[i].end(), [room](const Algorithm& way) {
      return way.workspace_bytes <= room;
    });
    choice.push_back(fits == ways_[i].end() ? ways_[i].back() : *fits);
  }
  return choice;
}

cost::CostTable ConvolutionAlgorithms::costs(const Choice& choice) const {
  cost::CostTable costs = traced_;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    costs.total_seconds += choice[i].seconds - costs.op(ops_[i]);
    costs.op_seconds[ops_[i].slot()] = choice[i].seconds;
    costs.workspace_bytes[ops_[i].slot()] = choice[i].workspace_bytes;
  }
  return costs;
}

cost::CostTable ConvolutionAlgorithms::costs_beside() const {
  cost::CostTable costs = traced_;
  for (const OpId op : ops_) costs.workspace_bytes[op.slot()] = 0;
  return costs;
}

std::optional<WrittenPlan> write_gaps_by(AlgorithmRule rule, const Problem& problem,
                                         const ConvolutionAlgorithms& algorithms,
                                         const GapDecisions& decisions, std::int64_t max_replays) {
  const trace::Lifetimes& lifetimes = *problem.trace->lifetimes();
  ConvolutionAlgorithms::Choice choice =
      rule == AlgorithmRule::kQuickest ? algorithms.quickest() : algorithms.leanest();
  if (rule == AlgorithmRule::kWithinBudget && !choice.empty()) {
    const auto beside =
        weigh_gaps(problem, lifetimes, algorithms.costs_beside(), decisions, max_replays);
    if (!beside) return std::nullopt;
    choice = algorithms.quickest_within(problem.budget_bytes, beside->tick_bytes);
  }
  std::optional<WrittenPlan> written =
      write_gaps(problem, lifetimes, algorithms.costs(choice), decisions, max_replays);
  if (!written) return std::nullopt;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i].implementation < 0) continue;
    written->actions.push_back(Choose{algorithms.ops()[i], choice[i].implementation});
  }
  return written;
}

}  // namespace lowtide::policy
