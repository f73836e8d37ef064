// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/gap_writer.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "plan/replay_reach.h"
#include "plan/text.h"
#include "support/random_trace.h"
#include "trace/text.h"

// RapidCheck prints the seed of a failure; RC_PARAMS="seed=..." runs it again.

namespace lowtide::policy {
namespace {

using trace::Tick;

// Random decisions about a random trace: each gap between two uses of a value, and the one after
// its last use, is left alone, dropped at some tick of it or swapped.
class AnyDecisions {
 public:
  AnyDecisions(std::uint64_t seed, int ops, bool may_swap) : random_(seed), may_swap_(may_swap) {
    problem.trace = std::make_shared<const Trace>(support::random_trace(seed, ops));
    problem.machine = unit_machine();
    problem.machine.allocator.round_bytes = static_cast<std::int64_t>(1 + random_.below(4));
    const std::int64_t plain =
        plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    // The budget decides only which sources are held.
    problem.budget_bytes = plain * static_cast<std::int64_t>(1 + random_.below(20)) / 20;
    lifetimes.emplace(*problem.trace);
    costs.emplace(*problem.trace, problem.machine);
    decisions.holds = plan::hold_sources(problem, *lifetimes, *costs);
    const plan::ReplayReach reach(*problem.trace, *lifetimes, decisions.holds);
    for (std::size_t i = 0; i < problem.trace->values().size(); ++i) {
      decide(make_id<ValueId>(i), reach);
    }
    const std::uint64_t kept_percent = 50 * random_.below(3);
    decisions.keep_replayed = [this, kept_percent](ValueId, Tick, Tick) {
      return random_.below(100) < kept_percent;
    };
  }
  AnyDecisions(const AnyDecisions&) = delete;
  AnyDecisions& operator=(const AnyDecisions&) = delete;

  Problem problem;
  std::optional<trace::Lifetimes> lifetimes;
  std::optional<cost::CostTable> costs;
  GapDecisions decisions;

 private:
  Tick between(Tick low, Tick high) {
    return low + static_cast<Tick>(random_.below(static_cast<std::uint64_t>(high - low) + 1));
  }

  void decide(ValueId value, const plan::ReplayReach& reach) {
    const trace::Lifetime& life = lifetimes->of(value);
    Tick last = life.born;
    for (const Tick read : life.reads) {
      if (last >= 0 && read > last) decide_gap(value, last, read, reach.can_drop(value));
      last = read;
    }
    // What exists before and after the step must end where it started.
    const Storage& storage = problem.trace->storage_of(value);
    if (life.dies < lifetimes->end() && random_.below(8) == 0) {
      decisions.holds.push_back({value, between(life.dies + 1, lifetimes->end())});
    }
    if (last < 0 || (storage.at_start && life.at_end) || life.dies <= last) return;
    if (reach.can_drop(value) && random_.below(3) == 0) {
      decisions.drops.push_back({value, between(last, std::min(life.dies, lifetimes->end()) - 1)});
    } else if (may_swap_ && !storage.pinned && random_.below(3) == 0) {
      const Tick never = lifetimes->end() + 1;
      decisions.swaps.push_back({value, TierId{0}, last, never, never});
    }
  }

  void decide_gap(ValueId value, Tick from, Tick to, bool can_drop) {
    const std::uint64_t choice = random_.below(3);
    if (choice == 1 && can_drop) {
      decisions.drops.push_back({value, between(from, to - 1)});
    } else if (choice == 2 && may_swap_ && !problem.trace->storage_of(value).pinned) {
      const Tick after = between(from, to - 1);
      decisions.swaps.push_back({value, TierId{0}, after, between(after + 1, to), to});
    }
  }

  base::Random random_;
  bool may_swap_;
};

std::string faults_of(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) {
    if (violation.kind != Violation::Kind::kOverBudget) text += violation.message + "\n";
  }
  return text;
}

void check_written(bool may_swap) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the trace");
  const int ops = *rc::gen::inRange(0, 31).as("ops");
  const AnyDecisions any(seed, ops, may_swap);
  const std::optional<WrittenPlan> written =
      write_gaps(any.problem, *any.lifetimes, *any.costs, any.decisions, 1'000'000);
  RC_ASSERT(written.has_value());
  const Plan plan = finish_plan(any.problem, "test", *written);
  RC_LOG() << trace::print_text(*any.problem.trace) << plan::print_text(plan, any.problem);

  const Verdict verdict = verify(any.problem, plan);
  RC_ASSERT(faults_of(verdict) == "");
  RC_ASSERT(written->peak_bytes == verdict.peak_bytes);
  RC_ASSERT(written->tick_bytes.size() == any.problem.trace->ops().size() + 1);
  const auto fullest = std::max_element(written->tick_bytes.begin(), written->tick_bytes.end());
  RC_ASSERT(*fullest == verdict.peak_bytes);
  if (verdict.peak_bytes > 0) {
    RC_ASSERT(fullest - written->tick_bytes.begin() == verdict.peak_op.index);
  }
  const auto runs =
      std::count_if(plan.actions.begin(), plan.actions.end(),
                    [](const Action& action) { return std::holds_alternative<Run>(action); });
  RC_ASSERT(written->replays == runs);
  if (may_swap) return;

  // Without copies under way the simulator has the same bytes in every tick.
  const Timeline timeline = simulate(any.problem, plan);
  RC_ASSERT(timeline.recompute_seconds == written->replay_seconds);
  for (const TickUse& tick : timeline.ticks) {
    RC_ASSERT(tick.total_bytes() == written->tick_bytes[tick.op.slot()]);
  }
}

RC_GTEST_PROP(GapWriterProperty, ReplaysAreRightAndBytesAreThoseOfTheChecker, ()) {
  for (int i = 0; i < 10; ++i) check_written(/*may_swap=*/false);
}

RC_GTEST_PROP(GapWriterProperty, SwapsAndReplaysTogetherAreRightAndSoAreTheirBytes, ()) {
  for (int i = 0; i < 10; ++i) check_written(/*may_swap=*/true);
}

}  // namespace
}  // namespace lowtide::policy
