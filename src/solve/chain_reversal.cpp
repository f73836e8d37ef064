// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/chain_reversal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace lowtide::solve {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::size_t at(std::int32_t room) { return static_cast<std::size_t>(room); }

}  // namespace

ChainReversal::ChainReversal(const Chain& chain, std::int32_t most_room)
    : chain_(chain), most_room_(most_room) {
  const std::size_t stages = chain.size();
  LT_REQUIRE(stages > 0 && stages < std::numeric_limits<std::int16_t>::max() && most_room >= 0,
             "a chain has stages and room, not ", stages, " and ", most_room);
  costs_.assign(row(0, stages), kNever);
  ways_.assign(costs_.size(), kNone);
  for (std::size_t last = 0; last < stages; ++last) {
    for (std::size_t first = last + 1; first-- > 0;) fill(first, last);
  }
}

double ChainReversal::cost(std::int32_t room) const { return cost(0, chain_.size() - 1, room); }

double ChainReversal::cost(std::size_t first, std::size_t last, std::int32_t room) const {
  if (room < 0) return kNever;
  return costs_[row(first, last) + at(std::min(room, most_room_))];
}

void ChainReversal::fill(std::size_t first, std::size_t last) {
  try_saving(first, last);
  // What it takes to go forwards as far as the middle, with the input of the first kept.
  std::int32_t least_room = 0;
  double cost = 0;
  for (std::size_t middle = first + 1; middle <= last; ++middle) {
    const std::size_t passed = middle - 1;
    const std::int32_t input = passed == first ? 0 : chain_.input_room[first][passed];
    least_room =
        std::max(least_room, chain_.others_room[last] + input + chain_.forward_room[passed]);
    cost += chain_.forward_cost[passed];
    try_from(first, last, middle, least_room, cost);
  }
}

void ChainReversal::try_saving(std::size_t first, std::size_t last) {
  const bool is_final = first == last;
  const std::int32_t saved = is_final ? chain_.final_room[first] : chain_.saved_room[first];
  const std::int32_t run = is_final ? chain_.final_saving_room[first] : chain_.saving_room[first];
  const double cost = is_final ? chain_.final_cost[first] : chain_.saving_cost[first];
  const std::int32_t least_room =
      std::max({saved, chain_.others_room[last] + run, saved + chain_.backward_room[first]});
  const std::size_t here = row(first, last);
  for (std::int32_t room = least_room; room <= most_room_; ++room) {
    const double rest = is_final ? 0 : costs_[row(first + 1, last) + at(room - saved)];
    if (rest == kNever) continue;
    costs_[here + at(room)] = cost + rest;
    ways_[here + at(room)] = kSaves;
  }
}

void ChainReversal::try_from(std::size_t first, std::size_t last, std::size_t middle,
                             std::int32_t least_room, double cost) {
  const std::int32_t kept = chain_.input_room[first][middle];
  const double* behind = costs_.data() + row(middle, last);
  const double* before = costs_.data() + row(first, middle - 1);
  double* costs = costs_.data() + row(first, last);
  std::int16_t* ways = ways_.data() + row(first, last);
  const auto way = static_cast<std::int16_t>(middle);
  for (std::int32_t room = std::max(least_room, kept); room <= most_room_; ++room) {
    const double total = cost + behind[at(room - kept)] + before[at(room)];
    const bool is_better = total < costs[at(room)];
    costs[at(room)] = is_better ? total : costs[at(room)];
    ways[at(room)] = is_better ? way : ways[at(room)];
  }
}

std::vector<ChainStep> ChainReversal::steps(std::int32_t room) const {
  return steps(0, chain_.size() - 1, room);
}

std::vector<ChainStep> ChainReversal::steps(std::size_t first, std::size_t last,
                                            std::int32_t room) const {
  LT_REQUIRE(std::isfinite(cost(first, last, room)), "no way through the chain in a room of ",
             room);
  std::vector<ChainStep> steps;
  add_steps(first, last, std::min(room, most_room_), steps);
  return steps;
}

void ChainReversal::add_steps(std::size_t first, std::size_t last, std::int32_t room,
                              std::vector<ChainStep>& steps) const {
  using Kind = ChainStep::Kind;
  const std::int16_t way = ways_[row(first, last) + at(room)];
  LT_CHECK(way != kNone, "every part of a way that was found is there");
  if (way == kSaves) {
    steps.push_back({Kind::kSave, static_cast<std::int32_t>(first)});
    if (first < last) add_steps(first + 1, last, room - chain_.saved_room[first], steps);
    steps.push_back({Kind::kBackward, static_cast<std::int32_t>(first)});
    return;
  }
  const auto middle = static_cast<std::size_t>(way);
  for (std::size_t stage = first; stage < middle; ++stage) {
    steps.push_back({Kind::kForward, static_cast<std::int32_t>(stage)});
  }
  steps.push_back({Kind::kKeepInput, static_cast<std::int32_t>(middle)});
  add_steps(middle, last, room - chain_.input_room[first][middle], steps);
  add_steps(first, middle - 1, room, steps);
}

}  // namespace lowtide::solve
