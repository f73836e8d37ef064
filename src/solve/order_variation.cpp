// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/order_variation.h"

#include <algorithm>

namespace lowtide::solve {

std::vector<std::int32_t> cross_orders(const std::vector<std::int32_t>& a,
                                       const std::vector<std::int32_t>& b, std::size_t cut) {
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(cut);
  std::vector<std::int32_t> child(a.begin(), end);
  child.reserve(a.size());
  std::vector<bool> is_in(a.size(), false);
  for (const std::int32_t number : child) is_in[static_cast<std::size_t>(number)] = true;
  std::copy_if(b.begin(), b.end(), std::back_inserter(child),
               [&](std::int32_t number) { return !is_in[static_cast<std::size_t>(number)]; });
  return child;
}

OrderVariation::OrderVariation(std::int32_t count, const std::vector<Precedence>& precedences) {
  base::Grouped<std::int32_t>::Items before;
  base::Grouped<std::int32_t>::Items after;
  for (const Precedence& precedence : precedences) {
    before.emplace_back(static_cast<std::size_t>(precedence.after), precedence.before);
    after.emplace_back(static_cast<std::size_t>(precedence.before), precedence.after);
  }
  before_ = base::Grouped<std::int32_t>(static_cast<std::size_t>(count), before);
  after_ = base::Grouped<std::int32_t>(static_cast<std::size_t>(count), after);
}

bool OrderVariation::has(const base::Grouped<std::int32_t>& neighbours, std::int32_t of,
                         std::int32_t number) const {
  const auto its = neighbours[static_cast<std::size_t>(of)];
  return std::find(its.begin(), its.end(), number) != its.end();
}

void OrderVariation::move_one(std::vector<std::int32_t>& order, std::int32_t reach,
                              base::Random& random) const {
  if (order.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(random.below(order.size()));
  const auto here = order.begin() + at;
  const std::int32_t number = *here;
  auto first = here;
  while (first != order.begin() && here - first < reach && !has(before_, number, *(first - 1))) {
    --first;
  }
  auto last = here;
  while (last + 1 != order.end() && last - here < reach && !has(after_, number, *(last + 1))) {
    ++last;
  }
  if (first == last) return;
  auto there =
      first + static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(last - first)));
  // Every place but its own.
  if (there >= here) ++there;
  if (there > here) {
    std::rotate(here, here + 1, there + 1);
  } else {
    std::rotate(there, here, here + 1);
  }
}

}  // namespace lowtide::solve
