// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/json_text.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(JsonText, EndsWithANewLine) { EXPECT_EQ(json_text({{"a", 1}}), "{\n \"a\": 1\n}\n"); }

TEST(JsonText, ReplacesWhatIsNoText) {
  EXPECT_EQ(json_text("a\xFF"), "\"a\xEF\xBF\xBD\"\n");
  EXPECT_EQ(json_text("\xC3\xA4"), "\"\xC3\xA4\"\n");
}

}  // namespace
}  // namespace lowtide::cli
