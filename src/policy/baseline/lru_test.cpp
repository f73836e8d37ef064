// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// When t is made a was used a second ago, b and c earlier; 16 bytes, if nothing goes.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 3 activation
storage b 3 activation
storage c 3 activation
storage t 6 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op fc forward : w -> c
op use forward : a ->
op ft forward : w -> t
op g backward : a b c -> d
)";

TEST(Lru, WhatWasUnusedForLongestGoesFirst) {
  for (const char* search : {"all", "indexed"}) {
    const PolicyOptions options{{"search", search}};
    const std::string rule = std::string("online lru search=") + search + "\n";
    EXPECT_EQ(actions_of(TestStep(kStep, 13), "lru", options),
              "drop b.0 before 4\nrun 1 before 5\n" + rule);
    EXPECT_EQ(actions_of(TestStep(kStep, 12), "lru", options).substr(0, 36),
              "drop b.0 before 4\ndrop c.0 before 4\n");
  }
}

}  // namespace
}  // namespace lowtide::policy
