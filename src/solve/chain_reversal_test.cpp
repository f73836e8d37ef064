// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/chain_reversal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

using Kind = ChainStep::Kind;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Stages of the same size: each makes one unit from one unit and saves that.
Chain even_chain(std::size_t stages) {
  Chain chain;
  chain.forward_cost.assign(stages, 1);
  chain.saving_cost.assign(stages, 1);
  chain.saved_room.assign(stages, 1);
  chain.forward_room.assign(stages, 1);
  chain.saving_room.assign(stages, 1);
  chain.final_cost.assign(stages, 1);
  chain.final_room.assign(stages, 1);
  chain.final_saving_room.assign(stages, 1);
  chain.backward_room.assign(stages, 0);
  chain.others_room.assign(stages, 0);
  chain.input_room.assign(stages, std::vector<std::int32_t>(stages, 1));
  return chain;
}

Chain random_chain(std::size_t stages, base::Random& random) {
  const auto draw = [&](int below) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(below)));
  };
  Chain chain = even_chain(stages);
  std::vector<std::int32_t> inputs;
  for (std::size_t i = 0; i < stages; ++i) {
    inputs.push_back(1 + draw(3));
    chain.forward_cost[i] = 1 + draw(5);
    chain.saving_cost[i] = chain.forward_cost[i] + draw(2);
    chain.forward_room[i] = 1 + draw(3);
    chain.backward_room[i] = draw(3);
    chain.others_room[i] = draw(2);
  }
  for (std::size_t i = 0; i < stages; ++i) {
    const std::int32_t output = i + 1 < stages ? inputs[i + 1] : 0;
    chain.saved_room[i] = output + draw(3);
    chain.saving_room[i] = std::max(chain.forward_room[i], chain.saved_room[i]);
    chain.final_room[i] = chain.saved_room[i] - output;
    chain.final_saving_room[i] = chain.final_room[i] + draw(2);
    chain.final_cost[i] = chain.final_room[i] == 0 ? 0 : chain.saving_cost[i];
    for (std::size_t j = 0; j < stages; ++j) chain.input_room[i][j] = inputs[j];
  }
  return chain;
}

// A naive search over all that can be there at once. An input is there because it was kept
// (`kept`), or as the output of a stage that saved, or for the moment (`moment`, -1 if none).
struct State {
  unsigned kept = 1;
  unsigned saved = 0;
  int moment = -1;
  int next_back = 0;
  friend auto operator<=>(const State&, const State&) = default;
};

class Search {
 public:
  Search(const Chain& chain, std::int32_t room) : chain_(chain), room_(room) {}

  double cheapest() {
    const int stages = static_cast<int>(chain_.size());
    reach({.next_back = stages - 1}, 0);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (cost > best_.at(state)) continue;
      if (state.next_back < 0) return cost;
      for (int stage = 0; stage <= state.next_back; ++stage) try_stage(state, stage, cost);
      if (has(state.saved, state.next_back)) go_back(state, 0, cost);
      if (state.moment > 0) {
        State next = state;
        next.kept |= 1U << state.moment;
        next.moment = -1;
        if (taken(next) <= room_) reach(next, cost);
      }
    }
    return kNever;
  }

 private:
  static std::size_t slot(int stage) { return static_cast<std::size_t>(stage); }
  static bool has(unsigned set, int stage) { return stage >= 0 && ((set >> stage) & 1U) != 0; }
  bool has_input(const State& state, int stage) const {
    return has(state.kept, stage) || has(state.saved, stage - 1) || state.moment == stage;
  }
  // By what stays; the input of the first stage is always there and does not count.
  std::int32_t taken(const State& state) const {
    std::int32_t sum = 0;
    for (int i = 0; i < static_cast<int>(chain_.size()); ++i) {
      if (has(state.saved, i)) sum += chain_.saved_room[slot(i)];
      if (i > 0 && has(state.kept, i)) sum += chain_.input_room[0][slot(i)];
    }
    return sum;
  }
  void try_stage(const State& state, int stage, double cost) {
    if (!has_input(state, stage) || has(state.saved, stage)) return;
    const bool is_momentary =
        state.moment == stage && !has(state.kept, stage) && !has(state.saved, stage - 1);
    const std::int32_t input = is_momentary ? chain_.input_room[0][slot(stage)] : 0;
    const std::int32_t others = chain_.others_room[slot(state.next_back)] + taken(state);
    if (stage < state.next_back && others + input + chain_.forward_room[slot(stage)] <= room_) {
      State next = state;
      next.moment = stage + 1;
      reach(next, cost + chain_.forward_cost[slot(stage)]);
    }
    // What is saved needs its input until the way back, so that a momentary one will not do.
    if (is_momentary) return;
    if (stage < state.next_back && others + chain_.saving_room[slot(stage)] <= room_) {
      State next = state;
      next.saved |= 1U << stage;
      next.moment = -1;
      if (taken(next) <= room_) reach(next, cost + chain_.saving_cost[slot(stage)]);
    }
    const bool is_final = stage == state.next_back;
    if (is_final && others + chain_.final_saving_room[slot(stage)] <= room_) {
      go_back(state, chain_.final_room[slot(stage)], cost + chain_.final_cost[slot(stage)]);
    }
  }
  // With so much saved for this way back alone.
  void go_back(const State& state, std::int32_t saved, double cost) {
    const int stage = state.next_back;
    if (taken(state) + saved + chain_.backward_room[slot(stage)] > room_) return;
    State next = state;
    next.saved &= ~(1U << stage);
    if (stage > 0) next.kept &= ~(1U << stage);
    next.moment = -1;
    --next.next_back;
    reach(next, cost);
  }
  void reach(const State& state, double cost) {
    const auto [entry, is_new] = best_.emplace(state, cost);
    if (!is_new && entry->second <= cost) return;
    entry->second = cost;
    queue_.emplace(cost, state);
  }

  const Chain& chain_;
  std::int32_t room_;
  std::map<State, double> best_;
  using Entry = std::pair<double, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

double cost_of(const Chain& chain, const std::vector<ChainStep>& steps) {
  double cost = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto stage = static_cast<std::size_t>(steps[i].stage);
    const bool is_final = i + 1 < steps.size() && steps[i + 1].kind == Kind::kBackward;
    if (steps[i].kind == Kind::kForward) cost += chain.forward_cost[stage];
    if (steps[i].kind == Kind::kSave) {
      cost += is_final ? chain.final_cost[stage] : chain.saving_cost[stage];
    }
  }
  return cost;
}

TEST(ChainReversal, FindsWhatAnExhaustiveSearchFinds) {
  int feasible = 0;
  int replaying = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    base::Random random(seed);
    const Chain chain = random_chain(2 + seed % 5, random);
    const ChainReversal reversal(chain, 24);
    const double least = reversal.cost(24);
    for (std::int32_t room = 0; room <= 24; ++room) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", room " + std::to_string(room));
      const double cost = reversal.cost(room);
      ASSERT_EQ(cost, Search(chain, room).cheapest());
      if (cost == kNever) continue;
      ++feasible;
      if (cost > least) ++replaying;
      EXPECT_EQ(cost_of(chain, reversal.steps(room)), cost);
    }
  }
  EXPECT_GT(feasible, 500);
  EXPECT_GT(replaying, 100);
}

TEST(ChainReversal, GoesBackThroughAllStagesInTurn) {
  const ChainReversal reversal(even_chain(9), 9);
  for (std::int32_t room = 5; room <= 9; ++room) {
    std::int32_t next = 8;
    for (const ChainStep& step : reversal.steps(room)) {
      if (step.kind == Kind::kBackward) {
        EXPECT_EQ(step.stage, next--) << room;
      }
    }
    EXPECT_EQ(next, -1) << room;
  }
}

TEST(ChainReversal, SavesAllWhereThereIsRoom) {
  const ChainReversal reversal(even_chain(3), 10);
  const std::vector<ChainStep> expected{{Kind::kSave, 0},     {Kind::kSave, 1},
                                        {Kind::kSave, 2},     {Kind::kBackward, 2},
                                        {Kind::kBackward, 1}, {Kind::kBackward, 0}};
  EXPECT_EQ(reversal.steps(10), expected);
  EXPECT_EQ(reversal.cost(10), 3);
}

TEST(ChainReversal, KeepsAnInputAndComesBackForTheRest) {
  // Four stages in a room for three, the third of which takes 3 seconds: its input is kept while it
  // and the last save; then the first two are gone through once more. That makes 8 in all, of which
  // 6 are the plain way.
  Chain chain = even_chain(4);
  chain.forward_cost[2] = chain.saving_cost[2] = chain.final_cost[2] = 3;
  const ChainReversal reversal(chain, 10);
  const std::vector<ChainStep> expected{
      {Kind::kForward, 0}, {Kind::kForward, 1},  {Kind::kKeepInput, 2}, {Kind::kSave, 2},
      {Kind::kSave, 3},    {Kind::kBackward, 3}, {Kind::kBackward, 2},  {Kind::kSave, 0},
      {Kind::kSave, 1},    {Kind::kBackward, 1}, {Kind::kBackward, 0}};
  EXPECT_EQ(reversal.cost(4), 6);
  EXPECT_EQ(reversal.cost(3), 8);
  EXPECT_EQ(reversal.steps(3), expected);
  EXPECT_EQ(reversal.cost(1), kNever);
}

TEST(ChainReversal, WhatTwoInputsShareCountsOnce) {
  // The inputs of stages 1 and 2 are the same two units.
  Chain chain = even_chain(3);
  chain.input_room[0] = {0, 2, 2};
  chain.input_room[1] = {0, 0, 0};
  EXPECT_LT(ChainReversal(chain, 10).cost(3), kNever);
}

}  // namespace
}  // namespace lowtide::solve
