// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/ids.h"

// The interface between whoever runs a step under a cap without a plan (the simulator's runner, the
// runtime) and a rule that says which value to give up next.

namespace lowtide {

/// What an online policy sees of a value that could be evicted.
struct Candidate {
  ValueId value;
  std::int64_t bytes = 0;
  /// Seconds of the op that made it.
  double compute_seconds = 0;
  /// Seconds since it was last used.
  double stale_seconds = 0;
  /// Seconds of evicted values that would have to be, or would be, computed with it; what counts
  /// depends on the Neighbourhood asked for.
  double neighbour_seconds = 0;
  /// Free bytes right below and right above it; 0 unless Addresses are asked for.
  std::int64_t free_beside_bytes = 0;
  /// How often it was computed again so far.
  std::int32_t times_replayed = 0;
};

/// Which evicted values around a candidate an online policy wants to know the cost of.
enum class Neighbourhood : std::uint8_t {
  kNone,
  /// Evicted values reachable through evicted ones, ancestors and descendants (DTR's e*).
  kExact,
  /// Union-find classes of evicted values that touch it (DTR's cheap e*).
  kClasses,
};

/// What an online policy wants to have to do with where values lie.
enum class Addresses : std::uint8_t {
  kNone,
  /// Candidates come with the free bytes beside them.
  kBeside,
  /// Room is made in rows: the values go that lie in the row with the lowest sum of scores.
  kRows,
};

/// Chooses victims one at a time when memory runs short. The runner does all the rest.
class OnlinePolicy {
 public:
  virtual ~OnlinePolicy() = default;
  virtual Neighbourhood neighbourhood() const = 0;
  virtual Addresses addresses() const { return Addresses::kNone; }
  /// The candidate with the lowest score goes.
  virtual double score(const Candidate& candidate) = 0;
};

}  // namespace lowtide
