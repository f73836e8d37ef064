// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "lowtide/ids.h"

namespace lowtide::sim {

// How the value with the lowest score is looked for.
enum class VictimSearch : std::uint8_t {
  // Every candidate is scored.
  kAll,
  // The square root of their number, drawn at random, is scored.
  kSqrt,
  // One candidate, drawn at random.
  kOne,
  // Candidates are filed by what their score would be at an age of one second, in steps of a factor
  // of √2, and by age within a step; only the oldest of each step is scored. Exact up to that
  // factor
  // for every score that is some function of the value divided by its age.
  kIndexed,
};

// The values that could be evicted now, and the search among them.
class VictimIndex {
 public:
  // The score of a value, were it that many seconds old.
  using ScoreAtAge = std::function<double(ValueId, double)>;

  VictimIndex(std::size_t value_count, VictimSearch search, std::uint64_t seed, ScoreAtAge score);

  void add(ValueId value, double last_use_seconds);
  void remove(ValueId value);
  bool contains(ValueId value) const { return entries_[value.slot()].position >= 0; }
  bool empty() const { return members_.empty(); }
  // Requires: contains(value).
  double score(ValueId value, double now_seconds) const;

  // The value to evict at this time; nothing if there is none.
  std::optional<ValueId> find(double now_seconds);

 private:
  struct Entry {
    // In members_; -1 when not in the index.
    std::int32_t position = -1;
    std::int32_t step = 0;
    double last_use_seconds = 0;
  };

  std::int32_t step_of(ValueId value) const;
  void file(ValueId value);
  void unfile(ValueId value);
  ValueId best_of_all(double now_seconds) const;
  ValueId best_of_sample(double now_seconds, std::size_t count);
  ValueId best_of_index(double now_seconds);

  VictimSearch search_;
  base::Random random_;
  ScoreAtAge score_;
  std::vector<ValueId> members_;
  std::vector<Entry> entries_;
  std::map<std::int32_t, std::set<std::pair<double, ValueId>>> steps_;
};

}  // namespace lowtide::sim
