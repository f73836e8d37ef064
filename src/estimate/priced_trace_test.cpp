// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/priced_trace.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::estimate {
namespace {

constexpr const char* kStep =
    "lowtide-trace 1\nname step\n"
    "storage w 8 parameter start end\n"
    "storage a 4 activation\n"
    "storage b 2 activation\n"
    "op first forward device=5 host=1 workspace=3 : w -> a\n"
    "op second backward random : a -> b\n"
    "op third optimizer : w -> w free a b\n";

TEST(PricedTrace, HasArithmeticInPlaceOfTimes) {
  const Trace priced = priced_trace(trace::parse_text(kStep), {7, 9, 0});
  EXPECT_EQ(trace::print_text(priced),
            "lowtide-trace 1\nname step\n"
            "storage w 8 parameter start end\n"
            "storage a 4 activation\n"
            "storage b 2 activation\n"
            "op first forward workspace=3 flops=7 : w -> a\n"
            "op second backward flops=9 random : a -> b\n"
            "op third optimizer : w -> w free a b\n");
}

TEST(PricedTrace, AnotherNumberOfOpsIsRefused) {
  EXPECT_THROW(priced_trace(trace::parse_text(kStep), {7}), InvalidInput);
}

}  // namespace
}  // namespace lowtide::estimate
