// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

struct Case {
  const char* typed;
  const char* expected;
};

TEST(Suggest, NamesTheNearestNameIfOneIsNear) {
  const std::vector<std::string> known{"keep_all", "capuchin", "dtr", "sublinear"};
  const Case cases[] = {
      {"capucin", "capuchin"}, {"dtr2", "dtr"}, {"drt", "dtr"}, {"sub", "sublinear"},
      {"keepall", "keep_all"}, {"zzz", ""},     {"x", ""},      {"", ""},
  };
  for (const Case& test : cases) {
    const std::string expected = test.expected;
    EXPECT_EQ(suggestion(test.typed, known),
              expected.empty() ? "" : "; did you mean '" + expected + "'?")
        << test.typed;
  }
}

TEST(Join, PutsCommasBetween) {
  EXPECT_EQ(join({"a", "b"}), "a, b");
  EXPECT_EQ(join({}), "");
}

}  // namespace
}  // namespace lowtide::base
