// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/grouped.h"
#include "base/random.h"

namespace lowtide::solve {

// One number stands before another in every order.
struct Precedence {
  std::int32_t before = 0;
  std::int32_t after = 0;
};

// The first `cut` of one order, then all others as they stand in another one. If both keep a set of
// precedences, so does the result. Requires: both are orders of the numbers below their length.
std::vector<std::int32_t> cross_orders(const std::vector<std::int32_t>& a,
                                       const std::vector<std::int32_t>& b, std::size_t cut);

// Changes orders of the numbers 0..count-1 and keeps the precedences.
class OrderVariation {
 public:
  // A precedence may be given several times.
  OrderVariation(std::int32_t count, const std::vector<Precedence>& precedences);

  // Draws a number and puts it elsewhere, at most `reach` places away, with the same chance for
  // every place that the precedences allow; where there is none, nothing happens.
  void move_one(std::vector<std::int32_t>& order, std::int32_t reach, base::Random& random) const;

 private:
  bool has(const base::Grouped<std::int32_t>& neighbours, std::int32_t of,
           std::int32_t number) const;

  base::Grouped<std::int32_t> before_;
  base::Grouped<std::int32_t> after_;
};

}  // namespace lowtide::solve
