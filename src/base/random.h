// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::base {

// A small seeded generator (SplitMix64) whose numbers are the same on every platform and compiler,
// which the standard distributions are not. Not for cryptography.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // Uniform in [0, bound). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double uniform();

 private:
  std::uint64_t state_;
};

}  // namespace lowtide::base
