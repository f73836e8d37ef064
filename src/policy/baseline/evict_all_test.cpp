// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <set>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Walks through a plan and says what is still on the device after each tick: "a.0 after 1;".
class Leftovers {
 public:
  Leftovers(const TestStep& step, const Plan& plan)
      : trace_(*step.problem.trace), plan_(plan), lifetimes_(trace_) {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      if (trace_.values()[i].is_source()) device_.insert(make_id<ValueId>(i));
    }
    for (const StartsIn& start : plan.starts) device_.erase(trace_.versions(start.storage)[0]);
  }

  std::string find() {
    std::string text;
    for (Tick tick = 0; tick < lifetimes_.end(); ++tick) {
      before(tick);
      for (const Use& write : trace_.op(lifetimes_.op_at(tick)).writes) device_.insert(write.value);
      after(tick);
      for (const ValueId value : device_) {
        text += trace_.value_name(value) + " after " + std::to_string(tick) + ";";
      }
    }
    return text;
  }

 private:
  void before(Tick tick) {
    for (const Action& action : plan_.actions) {
      const auto* fetch = std::get_if<Fetch>(&action);
      const auto* drop = std::get_if<Drop>(&action);
      const auto* run = std::get_if<Run>(&action);
      if (fetch != nullptr && fetch->needed_by.index == tick) device_.insert(fetch->value);
      if (run != nullptr && run->before.index == tick) replay(trace_.op(run->op), tick);
      if (drop != nullptr && drop->op.index == tick && drop->side == Drop::Side::kBefore) {
        device_.erase(drop->value);
      }
    }
  }

  // Results that are dead leave by themselves.
  void replay(const Op& op, Tick tick) {
    for (const Use& write : op.writes) {
      if (!write.side_effect && lifetimes_.of(write.value).dies >= tick) {
        device_.insert(write.value);
      }
    }
  }

  void after(Tick tick) {
    for (const ValueId dead : lifetimes_.deaths(tick)) device_.erase(dead);
    for (const Action& action : plan_.actions) {
      const auto* drop = std::get_if<Drop>(&action);
      const auto* move = std::get_if<Move>(&action);
      if (move != nullptr && move->after.index == tick) device_.erase(move->value);
      if (drop != nullptr && drop->op.index == tick && drop->side == Drop::Side::kAfter) {
        device_.erase(drop->value);
      }
    }
  }

  const Trace& trace_;
  const Plan& plan_;
  trace::Lifetimes lifetimes_;
  std::set<ValueId> device_;
};

std::string leftovers_of(const TestStep& step, const PolicyOptions& options = {}) {
  const Plan plan = plan_of(step, "evict_all", options);
  return Leftovers(step, plan).find();
}

constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage s 2 state start end
storage x 3 input start
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op fa forward : w x -> a
op fb forward : a ~s -> b ~s
op fc forward : b -> c
op relu_ forward : c -> c
op gc backward : c -> d
op gb backward : b d -> d
op ga backward : a d -> d
op step optimizer once : w d -> w
)";

TEST(EvictAll, NothingIsLeftOnTheDeviceAfterAnyOp) {
  const TestStep step(kStep);
  EXPECT_EQ(leftovers_of(step), "");
  EXPECT_EQ(leftovers_of(step, {{"by", "recompute"}}), "");
}

TEST(EvictAll, ByHostEverythingTravelsAndNothingIsReplayed) {
  const Plan plan = plan_of(TestStep(kStep), "evict_all");
  EXPECT_EQ(replays_of(plan), 0);
  EXPECT_EQ(count_of<Drop>(plan), 0);
  // All three sources begin the step in host memory.
  EXPECT_EQ(plan.starts.size(), 3U);
}

TEST(EvictAll, ByHostTheStepTakesNoMoreThanItsHungriestOp) {
  const TestStep step(kStep);
  // fb: a, b and s.
  EXPECT_EQ(verify(step.problem, plan_of(step, "evict_all")).peak_bytes, 10);
  EXPECT_EQ(smallest_budget_of(TestStep(kStep, 9), "evict_all"), 10);
  EXPECT_EQ(leftovers_of(TestStep(kStep, 10)), "");
}

TEST(EvictAll, ByRecomputeValuesThatMayGoAreDroppedAndTheOthersTravel) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage d 1 activation end
op f forward : w -> a
op g forward once : w -> b
op h backward : a b -> d
)");
  EXPECT_EQ(actions_of(step, "evict_all", {{"by", "recompute"}}),
            "starts w host\n"
            "fetch w.0 issue 0 need 0\ndrop a.0 after 0\nmove w.0 host after 0\n"
            "fetch w.0 issue 1 need 1\nmove w.0 host after 1\nmove b.0 host after 1\n"
            "fetch b.0 issue 2 need 2\nfetch w.0 issue 2 need 2\nrun 0 before 2\n"
            "move d.0 host after 2\nmove w.0 host after 2\n");
}

TEST(EvictAll, WithoutSwapsWhatMayNotBeDroppedStays) {
  const PolicyOptions only_drops = {{"by", "recompute"}, {"swap", "no"}};
  const TestStep step(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage d 1 activation end
op f forward : w -> a
op g forward once : w -> b
op h backward : a b -> d
)");
  EXPECT_EQ(actions_of(step, "evict_all", only_drops), "drop a.0 after 0\nrun 0 before 2\n");
  const TestStep larger(kStep);
  EXPECT_EQ(smallest_budget_of(TestStep(kStep, 9), "evict_all", only_drops),
            verify(larger.problem, plan_of(larger, "evict_all", only_drops)).peak_bytes);
  EXPECT_THROW(policy_named("evict_all").make({{"swap", "no"}}), InvalidInput);
}

TEST(EvictAll, DepthLimitsTheChainsThatAreReplayed) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : b -> c
op g backward : c b a -> d
op z other : w -> free b
)");
  const auto dropped = [&step](const char* depth) {
    const Plan plan = plan_of(step, "evict_all", {{"by", "recompute"}, {"depth", depth}});
    std::set<std::string> names;
    for (const Action& action : plan.actions) {
      if (const auto* drop = std::get_if<Drop>(&action)) names.insert(step.name(drop->value));
    }
    return names;
  };
  EXPECT_EQ(dropped("3"), (std::set<std::string>{"a.0", "b.0", "c.0"}));
  // b lies in host memory for longer than anyone reads it, and c is one replay away from it.
  EXPECT_EQ(dropped("1"), (std::set<std::string>{"a.0", "c.0"}));
}

TEST(EvictAll, PinnedStoragesStay) {
  std::string trace(kStep);
  trace.replace(trace.find("w 1 parameter start end"), 23, "w 1 parameter start end pinned");
  const std::string left = leftovers_of(TestStep(trace));
  EXPECT_EQ(left.substr(0, 24), "w.0 after 0;w.0 after 1;");
  EXPECT_EQ(left.find_first_of("sxabcd", left.find("after")), left.find("after"));
}

TEST(EvictAll, ATierThatCannotHoldEverythingTakesWhatFits) {
  TestStep step(kStep);
  step.problem.machine.tiers[0].capacity_bytes = 6;
  // w, s and x; then nothing is left for a, b and c, and none for d.
  EXPECT_EQ(plan_of(step, "evict_all").starts.size(), 3U);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(actions_of(step, "evict_all"), "");
}

}  // namespace
}  // namespace lowtide::policy
