// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/chain_offload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace lowtide::solve {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
using Kind = OffloadPart::Kind;

}  // namespace

ChainOffload::ChainOffload(const Chain& chain, const ChainReversal& again, const Offload& offload)
    : chain_(chain), again_(again), offload_(offload), most_room_(again.most_room()) {
  seconds_before_.assign(chain.size() + 1, 0);
  std::partial_sum(offload.stage_seconds.begin(), offload.stage_seconds.end(),
                   seconds_before_.begin() + 1);
  const auto rooms = static_cast<std::size_t>(most_room_) + 1;
  const auto backlogs = static_cast<std::size_t>(offload.most_backlog) + 1;
  table_.resize(chain.size() * rooms * backlogs);
  for (std::size_t stage = chain.size(); stage-- > 0;) {
    for (std::int32_t room = 0; room <= most_room_; ++room) {
      for (std::int32_t waits = 0; waits <= offload.most_backlog; ++waits)
        fill({stage, room, waits});
    }
  }
}

std::size_t ChainOffload::index(const State& state) const {
  const std::size_t row = state.stage * (static_cast<std::size_t>(most_room_) + 1) +
                          static_cast<std::size_t>(state.room);
  return row * (static_cast<std::size_t>(offload_.most_backlog) + 1) +
         static_cast<std::size_t>(state.backlog);
}

double ChainOffload::cost_from(const State& state) const {
  if (state.room < 0 || state.backlog > offload_.most_backlog) return kNever;
  return state.stage == chain_.size() ? 0 : table_[index(state)].cost;
}

double ChainOffload::cost(std::int32_t room) const {
  return room < 0 ? kNever : cost_from({0, std::min(room, most_room_), 0});
}

std::int32_t ChainOffload::backlog_after(std::int32_t backlog, double seconds,
                                         double copy_seconds) const {
  const double waits = std::max(0.0, backlog * offload_.backlog_seconds - seconds) + copy_seconds;
  const double steps = std::round(waits / offload_.backlog_seconds);
  return static_cast<std::int32_t>(std::min(steps, offload_.most_backlog + 1.0));
}

// Without what is being copied away; on the way back, what is being copied back.
std::int32_t ChainOffload::room_left(const State& state) const {
  return state.room - static_cast<std::int32_t>(std::ceil(state.backlog * offload_.backlog_seconds *
                                                          offload_.room_per_second));
}

ChainOffload::State ChainOffload::after_saving(const State& state, bool is_away) const {
  const std::size_t i = state.stage;
  return {i + 1, is_away ? state.room : state.room - chain_.saved_room[i],
          backlog_after(state.backlog, offload_.stage_seconds[i],
                        is_away ? offload_.saved_seconds[i] : 0)};
}

ChainOffload::State ChainOffload::after_again(const State& state, std::size_t until,
                                              bool is_away) const {
  const double seconds = seconds_before_[until] - seconds_before_[state.stage];
  return {until, is_away ? state.room : state.room - chain_.input_room[state.stage][until],
          backlog_after(state.backlog, seconds, is_away ? offload_.input_seconds[until] : 0)};
}

void ChainOffload::fill(const State& state) {
  Entry best;
  best.cost = kNever;
  try_saving(state, best);
  try_again(state, best);
  table_[index(state)] = best;
}

void ChainOffload::try_saving(const State& state, Entry& best) const {
  const std::size_t i = state.stage;
  const bool is_final = i + 1 == chain_.size();
  const std::int32_t saved = is_final ? chain_.final_room[i] : chain_.saved_room[i];
  const std::int32_t run = is_final ? chain_.final_saving_room[i] : chain_.saving_room[i];
  const double cost = is_final ? chain_.final_cost[i] : chain_.saving_cost[i];
  const std::int32_t least =
      std::max(chain_.others_room.back() + run, saved + chain_.backward_room[i]);
  if (room_left(state) < least) return;
  for (const bool is_away : {false, true}) {
    // The way back through the last stage comes at once.
    const double total = cost + (is_final ? 0 : cost_from(after_saving(state, is_away)));
    if (total >= best.cost) continue;
    best = {total, static_cast<std::int16_t>(i + 1), is_away ? Kind::kSaveAway : Kind::kSave,
            false};
  }
}

void ChainOffload::try_again(const State& state, Entry& best) const {
  const std::size_t first = state.stage;
  const std::int32_t room = room_left(state);
  std::int32_t least = 0;
  double forward = 0;
  for (std::size_t until = first + 1; until < chain_.size(); ++until) {
    const std::size_t passed = until - 1;
    const std::int32_t input = passed == first ? 0 : chain_.input_room[first][passed];
    least = std::max(least, chain_.others_room.back() + input + chain_.forward_room[passed]);
    forward += chain_.forward_cost[passed];
    if (room < least) return;
    const double again = again_.cost(first, passed, room);
    if (forward + again >= best.cost) continue;
    for (const bool is_away : {false, true}) {
      const double total = forward + again + cost_from(after_again(state, until, is_away));
      if (total >= best.cost) continue;
      best = {total, static_cast<std::int16_t>(until), Kind::kAgain, is_away};
    }
  }
}

std::vector<OffloadPart> ChainOffload::parts(std::int32_t room) const {
  LT_REQUIRE(std::isfinite(cost(room)), "no way through the chain in a room of ", room);
  std::vector<OffloadPart> parts;
  State state{0, std::min(room, most_room_), 0};
  while (state.stage < chain_.size()) {
    const Entry& entry = table_[index(state)];
    const auto until = static_cast<std::size_t>(entry.until);
    parts.push_back({entry.kind, static_cast<std::int32_t>(state.stage),
                     static_cast<std::int32_t>(until) - 1, room_left(state),
                     entry.next_input_away});
    state = entry.kind == Kind::kAgain ? after_again(state, until, entry.next_input_away)
                                       : after_saving(state, entry.kind == Kind::kSaveAway);
  }
  return parts;
}

}  // namespace lowtide::solve
