// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/markup.h"

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

TEST(MarkupEscaped, LeavesNothingThatCouldBeMarkup) {
  EXPECT_EQ(markup_escaped("<a b=\"c\">'&"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;");
}

TEST(MarkupEscaped, ControlCharactersAreBlanks) { EXPECT_EQ(markup_escaped("a\x1b\nb"), "a  b"); }

}  // namespace
}  // namespace lowtide::base
