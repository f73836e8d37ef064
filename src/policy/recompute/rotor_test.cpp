// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cmath>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {
namespace {

// A chain of layers of 100 bytes: layer i makes a<i> from a<i-1>; its backward pass reads a<i-1>,
// and so does nobody else. Layer `heavy` takes ten times as long as the others.
std::string chain(int layers, int heavy = 0) {
  std::string storages = "storage w 1 parameter start end\nstorage a0 1 input start end\n";
  std::string forward;
  std::string backward =
      "op loss backward : a" + std::to_string(layers) + " -> g" + std::to_string(layers) + "\n";
  storages += "storage g0 1 gradient end\n";
  for (int i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    storages += "storage a" + number + " 100 activation\nstorage g" + number + " 1 activation\n";
    forward += std::string("op f forward") + (i == heavy ? " device=10" : "") + " : w a" +
               std::to_string(i - 1) + " -> a" + number + "\n";
  }
  for (int i = layers; i > 0; --i) {
    backward += "op b backward : w a" + std::to_string(i - 1) + " g" + std::to_string(i) + " -> g" +
                std::to_string(i - 1) + "\n";
  }
  return storages + forward + backward;
}

double replay_seconds(const TestStep& step, const std::string& policy) {
  return simulate(step.problem, plan_of(step, policy)).recompute_seconds;
}

TEST(Rotor, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(chain(8), 10'000), "rotor"), "");
}

TEST(Rotor, OneValueTooManyCostsOneReplay) {
  // Plain: 8 layers and some bytes. One layer less in memory takes one replay.
  const TestStep step(chain(8), 750);
  EXPECT_EQ(replays_of(plan_of(step, "rotor")), 1);
}

TEST(Rotor, IsNeverDearerThanEvenSegments) {
  for (std::int64_t budget = 2500; budget >= 700; budget -= 200) {
    const TestStep step(chain(24), budget);
    const PlanOutcome segments = outcome_of(step, "sublinear");
    if (!std::holds_alternative<Plan>(segments)) continue;
    const double seconds = simulate(step.problem, std::get<Plan>(segments)).recompute_seconds;
    EXPECT_LE(replay_seconds(step, "rotor"), seconds) << budget;
  }
}

// Griewank and Walther (revolve), which the paper generalises: with room for so many values, and
// for the two of the layer at work, all layers of an even chain are gone back through with at least
// r * layers - C(room + r, r - 1) ways forwards, where r is the least with C(room + r, r) >=
// layers. The first way forwards is no replay.
std::int64_t replays_of_revolve(std::int64_t layers, std::int64_t room) {
  const auto choose = [](std::int64_t n, std::int64_t k) {
    std::int64_t result = 1;
    for (std::int64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
    return result;
  };
  std::int64_t r = 0;
  while (choose(room + r, r) < layers) ++r;
  return r * layers - choose(room + r, r - 1) - (layers - 1);
}

TEST(Rotor, OfAnEvenChainItReplaysWhatRevolveDoes) {
  EXPECT_EQ(replays_of_revolve(10, 3), 15 - 9);
  for (const int layers : {12, 24, 40}) {
    for (const int room : {2, 3, 5, 8}) {
      // Of the values that have room one is the chain's own input, which takes a byte, and two are
      // of the layer at work, one of which can stay when it is done: as good as a further room.
      const TestStep step(chain(layers), 100 * (room - 1 + 2) + 40);
      const auto replays = static_cast<std::int64_t>(replay_seconds(step, "rotor"));
      EXPECT_LE(replays, replays_of_revolve(layers, room)) << layers << ' ' << room;
      EXPECT_GE(replays, replays_of_revolve(layers, room + 1)) << layers << ' ' << room;
    }
  }
}

TEST(Rotor, AHeavyLayerIsNotGoneThroughAgain) {
  for (const int heavy : {2, 4, 6}) {
    const TestStep step(chain(8, heavy), 560);
    const Plan plan = plan_of(step, "rotor");
    for (const Action& action : plan.actions) {
      if (const auto* run = std::get_if<lowtide::Run>(&action)) {
        EXPECT_NE(run->op.index, heavy - 1) << heavy;
      }
    }
  }
}

TEST(Rotor, TakesTheLogarithmWhereItMust) {
  const int layers = 64;
  const std::int64_t smallest = smallest_budget_of(TestStep(chain(layers), 1), "rotor");
  EXPECT_LE(smallest, 400);
  plan_of(TestStep(chain(layers), smallest), "rotor");
}

TEST(Rotor, LessRoomNeverCostsLess) {
  double last = 0;
  for (std::int64_t budget = 3300; budget >= 500; budget -= 200) {
    const double seconds = replay_seconds(TestStep(chain(32), budget), "rotor");
    EXPECT_GE(seconds, last) << budget;
    last = seconds;
  }
  EXPECT_GT(last, 30);
}

TEST(Rotor, WhatSkipsManyStagesIsKeptOrMadeAgain) {
  // s is read by the last layer: it crosses every cut.
  const std::string trace = R"(
storage x 1 input start end
storage s 10 activation
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage d 10 activation
storage g 1 gradient end
op fs forward : x -> s
op fa forward : s -> a
op fb forward : a -> b
op fc forward : b -> c
op fd forward : c s -> d
op gd backward : c s d -> g
op gc backward : b g -> g
op gb backward : a g -> g
op ga backward : s g -> g
)";
  const TestStep step(trace, 42);
  EXPECT_LE(replay_seconds(step, "rotor"), 2);
}

// Each layer is a product and an activation in its place, as in most nets with convolutions.
TEST(Rotor, HoldsNothingThatAnOpOverwritesInPlace) {
  std::string storages = "storage w 1 parameter start end\nstorage g 1 gradient end\n";
  std::string forward;
  std::string backward;
  std::string last = "w";
  for (int i = 0; i < 6; ++i) {
    const std::string name = "a" + std::to_string(i);
    storages += "storage " + name + " 10 activation\n";
    forward += "op mm forward device=5 : " + last + " -> " + name + "\nop relu_ forward : " + name +
               " -> " + name + "\n";
    backward = "op back backward : " + name + " g -> g\n" + backward;
    last = name;
  }
  const std::string trace =
      storages + forward + "op loss backward : " + last + " -> g\n" + backward;
  for (const char* policy : {"rotor", "pofo", "sublinear"}) {
    for (const std::int64_t budget : {52, 42, 32}) {
      const TestStep step(trace, budget);
      const Plan plan = plan_of(step, policy);
      for (const Action& action : plan.actions) {
        const auto* hold = std::get_if<Hold>(&action);
        if (hold == nullptr) continue;
        EXPECT_FALSE(step.problem.trace->lifetimes()->of(hold->value).overwritten)
            << policy << ' ' << budget << ' ' << step.name(hold->value);
      }
    }
  }
}

TEST(Rotor, FewerStagesMakeCoarserPlans) {
  const TestStep step(chain(32), 900);
  const auto seconds = [&](const char* stages) {
    return simulate(step.problem, plan_of(step, "rotor", {{"stages", stages}})).recompute_seconds;
  };
  EXPECT_LE(seconds("64"), seconds("8"));
}

}  // namespace
}  // namespace lowtide::policy
