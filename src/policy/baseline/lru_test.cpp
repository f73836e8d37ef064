// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/baseline/stale_values.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

TEST(Lru, WhatWasUnusedForLongestGoesFirst) {
  for (const char* search : {"all", "indexed"}) {
    const PolicyOptions options{{"search", search}};
    const std::string rule = std::string("online lru search=") + search + "\n";
    EXPECT_EQ(actions_of(TestStep(kStaleValues, 13), "lru", options),
              "drop b.0 before 4\nrun 1 before 5\n" + rule);
    EXPECT_EQ(actions_of(TestStep(kStaleValues, 12), "lru", options).substr(0, 36),
              "drop b.0 before 4\ndrop c.0 before 4\n");
  }
}

}  // namespace
}  // namespace lowtide::policy
