// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/random.h"

#include "base/check.h"

namespace lowtide::base {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

std::uint64_t Random::below(std::uint64_t bound) {
  LT_CHECK(bound > 0, "no number lies below 0");
  // The bias of the remainder is below 2^-40 for every bound that occurs here.
  return next() % bound;
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

}  // namespace lowtide::base
