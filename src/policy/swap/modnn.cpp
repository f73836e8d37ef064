// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Chen et al., moDNN: memory optimal DNN training on GPUs, DATE 2018.
//
// Every convolution starts with its quickest algorithm, and nothing moves. Then, as long as the
// step does not fit, its fullest op is made to hold less by whatever adds least time: one of the
// values that lie idle there leaves for host memory, one that has left comes back later, or the op
// gets the next leaner algorithm of those that no other beats in both time and workspace. Copies
// are scheduled by lists, one a direction of the link: a value is released as early and prefetched
// as late as the link allows, and what does not hide behind compute is what a move costs.
//
// The paper also chooses the sub-batch of each convolution. A plan cannot split ops of its trace,
// so that is a transform of the problem: plan_modnn_split() in modnn.h, `lowtide plan --split`.
//
// Where this departs from the paper: only its abstract and what others report of it were at hand,
// so the order in which things are tried is ours. Saved values are what is moved; parameters and
// their gradients stay. Times of ops are those of the quickest algorithms throughout.
//
// Limits: plans for traces whose convolutions have implementations to choose from are for the
// simulator only; recorded steps have none, and there it schedules copies only.
#include "policy/swap/modnn.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/algorithms.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/op_kinds.h"
#include "policy/option_reader.h"
#include "policy/swap/modnn_planner.h"
#include "sim/simulation.h"

namespace lowtide::policy {
namespace {

class Modnn final : public Policy {
 public:
  explicit Modnn(const ModnnOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    WrittenPlan written = plan_modnn(problem, options_);
    if (written.peak_bytes <= problem.budget_bytes) {
      return finish_plan(problem, "modnn", std::move(written));
    }
    // Each op that is still too large has nothing left to give up, so this much is enough.
    return Refusal{.reason = base::concat("with all idle values moved an op still takes ",
                                          base::format_bytes(written.peak_bytes)),
                   .smallest_budget_bytes = written.peak_bytes};
  }

 private:
  ModnnOptions options_;
};

plan::Transformed as_it_is(const Problem& problem) {
  plan::Transformed same{problem, {}, {}};
  for (std::size_t i = 0; i < problem.trace->ops().size(); ++i) {
    same.op_from.push_back(make_id<OpId>(i));
  }
  for (std::size_t i = 0; i < problem.trace->storages().size(); ++i) {
    same.storage_from.push_back(make_id<StorageId>(i));
  }
  return same;
}

// What a convolution uses that has a batch: neither weights nor their gradients.
std::vector<StorageId> batched_storages(const Trace& trace, OpId op) {
  std::vector<StorageId> batched;
  const auto add = [&](const Use& use) {
    const StorageKind kind = trace.storage_of(use.value).kind;
    const bool is_batched = kind == StorageKind::kActivation || kind == StorageKind::kInput ||
                            kind == StorageKind::kTemporary;
    if (is_batched) batched.push_back(trace.value(use.value).storage);
  };
  for (const Use& read : trace.reads(op)) add(read);
  for (const Use& write : trace.writes(op)) add(write);
  return batched;
}

// The step with each op in so many parts.
plan::Transformed split_ops(const Problem& problem, const std::vector<std::int32_t>& parts) {
  plan::Transformed result = as_it_is(problem);
  // From the end, so that the ids of those still to come stay.
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (parts[i] < 2) continue;
    const auto op = make_id<OpId>(i);
    plan::Transformed next = plan::split(
        result.problem, {op, op, parts[i], batched_storages(*result.problem.trace, op)});
    for (OpId& from : next.op_from) from = result.op_from[from.slot()];
    for (StorageId& from : next.storage_from) from = result.storage_from[from.slot()];
    result = std::move(next);
  }
  return result;
}

// Doubles the parts of the convolutions that use a workspace while more than the budget is held.
// False if there are none that may have more parts.
bool split_further(const plan::Transformed& step, std::int32_t most_parts,
                   std::vector<std::int32_t>& parts) {
  const Trace& trace = *step.problem.trace;
  const cost::CostTable costs(trace, step.problem.machine);
  const auto plain = weigh_gaps(step.problem, *trace.lifetimes(), costs, {}, 0);
  LT_CHECK(plain, "the plain step can be weighed");
  std::vector<bool> is_too_large(parts.size(), false);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const auto op = make_id<OpId>(i);
    const bool is_candidate =
        convolves(trace.op(op)) && costs.workspace(op) > 0 && !batched_storages(trace, op).empty();
    if (is_candidate && plain->tick_bytes[i] > step.problem.budget_bytes) {
      is_too_large[step.op_from[i].slot()] = true;
    }
  }
  bool is_any = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!is_too_large[i] || 2 * parts[i] > most_parts) continue;
    parts[i] *= 2;
    is_any = true;
  }
  return is_any;
}

bool is_better(const SplitStep& a, const SplitStep& b) {
  const auto* plan = std::get_if<Plan>(&a.outcome);
  const auto* other = std::get_if<Plan>(&b.outcome);
  if (plan == nullptr && other == nullptr) {
    return std::get<Refusal>(a.outcome).smallest_budget_bytes <
           std::get<Refusal>(b.outcome).smallest_budget_bytes;
  }
  if (plan == nullptr || other == nullptr) return plan != nullptr;
  return sim::simulated_seconds(a.split.problem, *plan) <
         sim::simulated_seconds(b.split.problem, *other);
}

SplitStep best_split(const Problem& problem, const Policy& policy, std::int32_t most_parts) {
  std::vector<std::int32_t> parts(problem.trace->ops().size(), 1);
  SplitStep best{as_it_is(problem), policy.plan(problem)};
  plan::Transformed step = best.split;
  while (split_further(step, most_parts, parts)) {
    step = split_ops(problem, parts);
    SplitStep next{step, policy.plan(step.problem)};
    if (is_better(next, best)) best = std::move(next);
  }
  return best;
}

}  // namespace

SplitStep plan_modnn_split(const Problem& problem, const PolicyOptions& options,
                           std::int32_t most_parts) {
  LT_REQUIRE(most_parts >= 1, "a convolution has at least one part, not ", most_parts);
  const std::unique_ptr<Policy> policy = make_modnn(options);
  SplitStep best = best_split(problem, *policy, most_parts);
  auto* refusal = std::get_if<Refusal>(&best.outcome);
  if (refusal == nullptr) return best;
  // With a larger budget fewer ops are split, so what is enough for this split need not do.
  Problem larger = problem;
  for (;;) {
    larger.budget_bytes = refusal->smallest_budget_bytes;
    const SplitStep granted = best_split(larger, *policy, most_parts);
    const auto* still = std::get_if<Refusal>(&granted.outcome);
    if (still == nullptr) return best;
    refusal->smallest_budget_bytes = still->smallest_budget_bytes;
  }
}

std::unique_ptr<Policy> make_modnn(const PolicyOptions& options) {
  OptionReader reader("modnn", options);
  ModnnOptions parsed;
  parsed.may_offload =
      reader.choice<bool>("offload", parsed.may_offload, {{"yes", true}, {"no", false}});
  parsed.may_choose =
      reader.choice<bool>("choose", parsed.may_choose, {{"yes", true}, {"no", false}});
  reader.finish();
  return std::make_unique<Modnn>(parsed);
}

}  // namespace lowtide::policy
