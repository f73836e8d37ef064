// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/csv.h"

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

TEST(Csv, AFieldIsQuotedWhereItHasToBe) {
  EXPECT_EQ(csv_field("plain name"), "plain name");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("says \"so\""), "\"says \"\"so\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace lowtide::base
