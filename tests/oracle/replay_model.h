// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/trace.h"
#include "natural_lives.h"

namespace lowtide::oracle {

// A set of values, one bit each.
using ValueSet = std::uint32_t;

struct State {
  int tick = 0;
  ValueSet there = 0;

  std::uint64_t key() const { return (static_cast<std::uint64_t>(tick) << 32U) | there; }
};

// One way from a state to the next; brute_force.h says what each means.
struct Step {
  enum class Kind : std::uint8_t { kDrop, kReplay, kGoOn };
  Kind kind = Kind::kGoOn;
  // The value dropped, or the op replayed.
  int which = 0;
  // Of a replay.
  double seconds = 0;
  // The fullest moment on the way; 0 if there is none.
  std::int64_t moment_bytes = 0;
  State to;
};

// The rules of the search: what state a step begins in and which ways lead on.
class ReplayModel {
 public:
  ReplayModel(const Trace& trace, const NaturalLives& lives);

  State start() const;
  std::int64_t bytes(ValueSet values) const;
  bool is_done(const State& state) const;
  std::vector<Step> steps(const State& state) const;

 private:
  void add_drops(const State& state, std::vector<Step>& steps) const;
  void add_replays(const State& state, std::vector<Step>& steps) const;
  void add_going_on(const State& state, std::vector<Step>& steps) const;
  bool may_drop(int value, int tick) const;
  // Values from which something can be computed that is needed in this tick or later.
  ValueSet useful(int tick) const;
  // Without those that are of no use any more.
  State tidied(State state) const;

  struct OpSets {
    ValueSet reads = 0;
    ValueSet replay_reads = 0;
    ValueSet results = 0;
    ValueSet replay_results = 0;
    std::int64_t result_bytes = 0;
    double seconds = 0;
  };

  const Trace& trace_;
  const NaturalLives& lives_;
  std::vector<OpSets> ops_;
  ValueSet outliving_ = 0;
  // By tick.
  std::vector<ValueSet> useful_;
};

}  // namespace lowtide::oracle
