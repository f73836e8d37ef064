// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tick_bytes.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Lengths around those of a block, against a plain row of numbers.
TEST(TickBytes, AnswersAsARowOfNumbersDoes) {
  for (const std::size_t ticks : {1U, 63U, 64U, 65U, 128U, 200U}) {
    TickBytes bytes(ticks);
    std::vector<std::int64_t> plain(ticks, 0);
    base::Random random(ticks);
    for (int i = 0; i < 300; ++i) {
      const auto a = static_cast<Tick>(random.below(ticks));
      const auto b = static_cast<Tick>(random.below(ticks));
      const auto amount = static_cast<std::int64_t>(random.below(20)) - 5;
      const auto [first, last] = std::minmax(a, b);
      bytes.add(first, last, amount);
      for (Tick tick = first; tick <= last; ++tick) plain[static_cast<std::size_t>(tick)] += amount;

      const auto most = std::max_element(plain.begin(), plain.end());
      ASSERT_EQ(bytes.max(), *most);
      ASSERT_EQ(bytes.argmax(), most - plain.begin());
      ASSERT_EQ(bytes.max(first, last),
                std::max<std::int64_t>(
                    0, *std::max_element(plain.begin() + first, plain.begin() + last + 1)));
      const auto is_above = [](std::int64_t here) { return here > 10; };
      ASSERT_EQ(bytes.is_above(10, first, last),
                std::any_of(plain.begin() + first, plain.begin() + last + 1, is_above));
      std::vector<std::int32_t> counts;
      bytes.count_above(10, counts);
      ASSERT_EQ(counts.size(), ticks + 1);
      for (std::size_t tick = 0; tick <= ticks; ++tick) {
        ASSERT_EQ(counts[tick],
                  std::count_if(plain.begin(), plain.begin() + static_cast<Tick>(tick), is_above));
      }
    }
  }
}

TEST(TickBytes, AnEmptyStretchChangesNothing) {
  TickBytes bytes(3);
  bytes.add(2, 1, 5);
  EXPECT_EQ(bytes.max(), 0);
  EXPECT_FALSE(bytes.is_above(-1, 2, 1));
}

}  // namespace
}  // namespace lowtide::policy
