// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Selective activation recomputation (Korthikanti et al., Reducing activation recomputation in
// large transformer models, MLSys 2023; Megatron). The core of attention (the product of queries
// and keys, softmax, its dropout, and the product with the values) makes large values that take
// little arithmetic: they are dropped when the forward pass is through with them and computed again
// when the backward pass comes to their layer. Its result stays, the next layer needs it.
// `parts=core` does that with every layer. As Megatron's later versions can, `parts=cheap` also
// drops what cheap ops (casts, normalizations, activation functions, dropout) made out of values
// that are there anyway, and `parts=all` also the results of attention itself. `auto` takes the
// first that fits of: nothing, core, cheap, all.
//
// The core is found by the names of ops: a softmax together with the ops on its way from a matrix
// product and to the next one. A fused kernel does by itself what the paper proposes, and keeps
// nothing large but its result: only `all` drops that, and runs the kernel again.
//
// Departure: the paper's way of sharding sequences over devices is not ours.
//
// Limits: it knows three sets of values and takes them whole, whatever the budget; a step without
// attention is left as it is.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/op_kinds.h"
#include "policy/option_reader.h"
#include "policy/recompute/forward_values.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

enum class Parts { kAuto, kNone, kCore, kCheap, kAll };

// How many ops may lie between softmax and the products before and after it: scaling, mask, cast,
// dropout and copies.
constexpr int kLongestWay = 8;

// Marks the ops of attention cores that are not fused.
class CoreFinder {
 public:
  explicit CoreFinder(const Trace& trace)
      : trace_(trace), lifetimes_(*trace.lifetimes()), in_core_(trace.ops().size(), false) {}

  std::vector<bool> find() {
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      const Op& op = trace_.ops()[i];
      if (op.phase != Phase::kForward) continue;
      const auto id = make_id<OpId>(i);
      // A softmax that is not between two products is something else, such as a gate.
      on_the_way_.assign(1, id);
      if (is_softmax(op) && comes_from_product(id, kLongestWay) &&
          leads_to_product(id, kLongestWay)) {
        for (const OpId marked : on_the_way_) in_core_[marked.slot()] = true;
      }
    }
    return std::move(in_core_);
  }

 private:
  // Whether a product is behind the op; it and all that lies between are put on the list.
  bool comes_from_product(OpId id, int steps) {
    if (steps == 0) return false;
    bool found = false;
    for (const Use& read : trace_.reads(id)) {
      const OpId producer = trace_.value(read.value).producer;
      if (read.side_effect || !producer.valid()) continue;
      const Op& op = trace_.op(producer);
      if (!is_matrix_product(op) && !(is_cheap_pass(op) && comes_from_product(producer, steps - 1)))
        continue;
      on_the_way_.push_back(producer);
      found = true;
    }
    return found;
  }

  bool leads_to_product(OpId id, int steps) {
    if (steps == 0) return false;
    bool found = false;
    for (const Use& write : trace_.writes(id)) {
      for (const trace::Tick tick : lifetimes_.of(write.value).reads) {
        const OpId reader = lifetimes_.op_at(tick);
        const Op& op = trace_.op(reader);
        if (op.phase != Phase::kForward) break;
        if (!is_matrix_product(op) && !(is_cheap_pass(op) && leads_to_product(reader, steps - 1)))
          continue;
        on_the_way_.push_back(reader);
        found = true;
      }
    }
    return found;
  }

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  std::vector<bool> in_core_;
  std::vector<OpId> on_the_way_;
};

class Planner {
 public:
  Planner(const Problem& problem, Parts parts)
      : problem_(problem),
        trace_(*problem.trace),
        parts_(parts),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        holds_(plan::hold_sources(problem, lifetimes_, costs_)),
        reach_(trace_, lifetimes_, holds_),
        in_core_(CoreFinder(trace_).find()) {}

  PlanOutcome plan() const {
    // Replays may take more than they save, if the fullest op is one of the backward pass.
    std::vector<Parts> ways = {parts_, Parts::kNone};
    if (parts_ == Parts::kAuto) ways = {Parts::kNone, Parts::kCore, Parts::kCheap, Parts::kAll};
    if (!has_attention()) ways = {Parts::kNone};
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    for (const Parts way : ways) {
      WrittenPlan written = write(way);
      if (written.peak_bytes <= problem_.budget_bytes) {
        return finish_plan(problem_, "selective", std::move(written));
      }
      least_bytes = std::min(least_bytes, written.peak_bytes);
    }
    const char* why = has_attention()
                          ? "without the chosen parts of attention layers the step takes "
                          : "the step has no attention, and as it is it takes ";
    return Refusal{.reason = base::concat(why, base::format_bytes(least_bytes)),
                   .smallest_budget_bytes = least_bytes};
  }

 private:
  bool has_attention() const {
    return std::find(in_core_.begin(), in_core_.end(), true) != in_core_.end() ||
           std::any_of(trace_.ops().begin(), trace_.ops().end(), is_fused_attention);
  }

  WrittenPlan write(Parts way) const {
    GapDecisions decisions;
    if (way != Parts::kNone) {
      decisions.holds = holds_;
      decisions.keep_replayed = [](ValueId, trace::Tick, trace::Tick) { return true; };
      const std::vector<bool> may_go = way == Parts::kCore ? made_by_core(way) : made_cheaply(way);
      for (const ForwardValue& value : forward_values(trace_, reach_)) {
        if (!may_go[value.value.slot()] || !value.lives_on(lifetimes_)) continue;
        decisions.drops.push_back({value.value, value.last_forward});
      }
    }
    const auto ops = static_cast<std::int64_t>(trace_.ops().size());
    std::optional<WrittenPlan> written =
        write_gaps(problem_, lifetimes_, costs_, decisions, 64 * ops + 1000);
    if (!written) written = write_gaps(problem_, lifetimes_, costs_, {}, 0);
    LT_CHECK(written, "the plain step can be written");
    return *std::move(written);
  }

  // Within cores; for `all` what leaves them, and what fused kernels make, as well.
  std::vector<bool> made_by_core(Parts way) const {
    std::vector<bool> made(trace_.values().size(), false);
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const OpId producer = trace_.values()[i].producer;
      if (!producer.valid()) continue;
      const bool is_core = in_core_[producer.slot()];
      made[i] = way == Parts::kAll ? is_core || is_fused_attention(trace_.op(producer))
                                   : is_core && stays_in_core(make_id<ValueId>(i));
    }
    return made;
  }

  bool stays_in_core(ValueId value) const {
    const auto reads = lifetimes_.of(value).reads;
    return std::all_of(reads.begin(), reads.end(), [this](trace::Tick tick) {
      const OpId reader = lifetimes_.op_at(tick);
      return in_core_[reader.slot()] || trace_.op(reader).phase != Phase::kForward;
    });
  }

  // What the core makes, and what cheap ops make, if whatever that is made of can be had cheaply as
  // well or is there when the backward pass wants the result.
  std::vector<bool> made_cheaply(Parts way) const {
    std::vector<bool> made = made_by_core(way);
    for (const ForwardValue& value : forward_values(trace_, reach_)) {
      const OpId producer = trace_.value(value.value).producer;
      if (!is_cheap_pass(trace_.op(producer))) continue;
      const auto reads = trace_.reads(producer);
      made[value.value.slot()] = std::all_of(reads.begin(), reads.end(), [&](const Use& read) {
        return read.side_effect || made[read.value.slot()] ||
               lifetimes_.of(read.value).dies >= value.first_later;
      });
    }
    return made;
  }

  const Problem& problem_;
  const Trace& trace_;
  Parts parts_;
  const trace::Lifetimes& lifetimes_;
  cost::CostTable costs_;
  std::vector<plan::ExtendedLife> holds_;
  plan::ReplayReach reach_;
  std::vector<bool> in_core_;
};

class Selective final : public Policy {
 public:
  explicit Selective(Parts parts) : parts_(parts) {}

  PlanOutcome plan(const Problem& problem) const override {
    return plan_or_grant(problem, [this](const Problem& p) { return Planner(p, parts_).plan(); });
  }

 private:
  Parts parts_;
};

}  // namespace

std::unique_ptr<Policy> make_selective(const PolicyOptions& options) {
  OptionReader reader("selective", options);
  const auto parts = reader.choice<Parts>("parts", Parts::kAuto,
                                          {{"auto", Parts::kAuto},
                                           {"core", Parts::kCore},
                                           {"cheap", Parts::kCheap},
                                           {"all", Parts::kAll}});
  reader.finish();
  return std::make_unique<Selective>(parts);
}

}  // namespace lowtide::policy
