// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Evicts every value that may be evicted after each of its uses and brings it back for the next
// one: the least memory and the most traffic. Made for tests, where everything that can go wrong
// with eviction should.
//
// By host everything moves to the first tier, persistent storages included, which then begin the
// step there. By recompute values within `depth` replays of something that is kept are dropped
// instead, so that replays do not multiply; what is not dropped moves, or with swap=no stays.
//
// Limits: the budget is not looked at, but for whether the plan keeps it: with room to spare as
// much moves as without. Nothing is fetched ahead, so that every copy is waited for. What is
// dropped with by=recompute is cut off at `depth` by the step's order alone, not by cost; where
// replays come to 200 for each op, everything is moved instead.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/replay_reach.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

enum class By { kHost, kRecompute };

class EvictAll final : public Policy {
 public:
  EvictAll(By by, std::int64_t depth, bool may_swap)
      : by_(by), depth_(depth), may_swap_(may_swap) {}

  PlanOutcome plan(const Problem& problem) const override {
    const Trace& trace = *problem.trace;
    const trace::Lifetimes& lifetimes = *trace.lifetimes();
    const cost::CostTable costs(trace, problem.machine);
    const auto ops = static_cast<std::int64_t>(trace.ops().size());
    std::optional<WrittenPlan> written =
        write_gaps(problem, lifetimes, costs, decide(problem, lifetimes, by_), 200 * ops + 1000);
    // Dead ancestors made the chains longer than they looked, or replays take more than they free.
    const bool is_in_vain = !written || (!may_swap_ && written->peak_bytes > problem.budget_bytes);
    if (is_in_vain && by_ == By::kRecompute) {
      std::optional<WrittenPlan> without =
          write_gaps(problem, lifetimes, costs, decide(problem, lifetimes, By::kHost), 0);
      if (!written || without->peak_bytes < written->peak_bytes) written = std::move(without);
    }
    LT_CHECK(written, "without replays everything can be brought back");
    if (written->peak_bytes <= problem.budget_bytes) {
      return finish_plan(problem, "evict_all", *std::move(written));
    }
    return Refusal{.reason = base::concat("with everything evicted the step still takes ",
                                          base::format_bytes(written->peak_bytes)),
                   .smallest_budget_bytes = written->peak_bytes};
  }

 private:
  GapDecisions decide(const Problem& problem, const trace::Lifetimes& lifetimes, By by) const {
    const Trace& trace = *problem.trace;
    const std::vector<bool> dropped = choose_dropped(trace, lifetimes, by);
    const std::vector<bool> moved = storages_to_move(problem);
    GapDecisions decisions;
    for (std::size_t i = 0; i < trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (dropped[i]) {
        drop_everywhere(value, lifetimes, decisions);
      } else if (may_swap_ && moved[trace.value(value).storage.slot()]) {
        swap_everywhere(trace, value, lifetimes, decisions);
      }
    }
    return decisions;
  }

  // Values whose chain of dropped and dead ancestors is short enough. Not those that outlive the
  // step: they would all have to be replayed at its end.
  std::vector<bool> choose_dropped(const Trace& trace, const trace::Lifetimes& lifetimes,
                                   By by) const {
    std::vector<bool> dropped(trace.values().size(), false);
    if (by == By::kHost) return dropped;
    const plan::ReplayReach reach(trace, lifetimes, {});
    // How many replays deep a value is once it is gone; kept values are 0 deep while they live.
    std::vector<std::int64_t> depth(trace.values().size(), 0);
    for (std::size_t i = 0; i < trace.ops().size(); ++i) {
      const Op& op = trace.ops()[i];
      std::int64_t deepest = 0;
      for (const Use& read : op.reads) deepest = std::max(deepest, depth[read.value.slot()]);
      for (const Use& write : op.writes) {
        const auto value = write.value;
        dropped[value.slot()] =
            reach.can_drop(value) && deepest + 1 <= depth_ && !lifetimes.of(value).at_end;
        const bool outlives_its_use = lifetimes.of(value).dies > lifetimes.of(value).last_read();
        depth[value.slot()] = dropped[value.slot()] || !outlives_its_use ? deepest + 1 : 0;
      }
    }
    return dropped;
  }

  static void drop_everywhere(ValueId value, const trace::Lifetimes& lifetimes,
                              GapDecisions& decisions) {
    const trace::Lifetime& life = lifetimes.of(value);
    decisions.drops.push_back({value, life.born});
    for (const Tick read : life.reads) decisions.drops.push_back({value, read});
  }

  static void swap_everywhere(const Trace& trace, ValueId value, const trace::Lifetimes& lifetimes,
                              GapDecisions& decisions) {
    const trace::Lifetime& life = lifetimes.of(value);
    if (life.born < 0) decisions.starts.push_back({trace.value(value).storage, TierId{0}});
    Tick last_use = life.born;
    for (const Tick read : life.reads) {
      decisions.swaps.push_back({value, TierId{0}, last_use, read, read});
      last_use = read;
    }
    const Tick never = lifetimes.end() + 1;
    if (life.dies > last_use) decisions.swaps.push_back({value, TierId{0}, last_use, never, never});
  }

  By by_;
  std::int64_t depth_;
  bool may_swap_;
};

}  // namespace

std::unique_ptr<Policy> make_evict_all(const PolicyOptions& options) {
  OptionReader reader("evict_all", options);
  const By by =
      reader.choice<By>("by", By::kHost, {{"host", By::kHost}, {"recompute", By::kRecompute}});
  const std::int64_t depth = reader.integer("depth", 4, 1, 14);
  const bool may_swap = reader.choice<bool>("swap", true, {{"yes", true}, {"no", false}});
  reader.finish();
  LT_REQUIRE(may_swap || by == By::kRecompute,
             "evict_all with by=host does nothing but swap: swap=no goes with by=recompute");
  return std::make_unique<EvictAll>(by, depth, may_swap);
}

}  // namespace lowtide::policy
