// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/summary.h"

#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::trace {
namespace {

TEST(Summary, CountsOpsStoragesBytesAndSeconds) {
  const Summary found = summary(parse_text(
      "lowtide-trace 1\nname t\nstorage w 8 parameter start end\nstorage v 8 parameter start end\n"
      "storage a 3 activation\nstorage b 4 activation\n"
      "op f forward layer=one device=0.5 : w -> a\nop g forward layer=two device=0.25 : a v -> b\n"
      "op h backward once : b -> b\nop i optimizer device=1 : b -> w\n"));
  EXPECT_EQ(found.ops, 4U);
  EXPECT_EQ(found.storages, 4U);
  EXPECT_EQ(found.values, 6U);
  EXPECT_EQ(found.layers, 2U);
  EXPECT_EQ(found.in_place_ops, 2U);
  EXPECT_EQ(found.once_ops, 1U);
  EXPECT_EQ(found.unmeasured_ops, 1U);
  EXPECT_EQ(found.ops_in(Phase::kForward), 2U);
  EXPECT_EQ(found.ops_in(Phase::kBackward), 1U);
  EXPECT_EQ(found.ops_in(Phase::kOther), 0U);
  EXPECT_EQ(found.storages_of(StorageKind::kParameter), 2U);
  EXPECT_EQ(found.bytes_of(StorageKind::kParameter), 16);
  EXPECT_EQ(found.bytes_of(StorageKind::kActivation), 7);
  EXPECT_EQ(found.bytes_of(StorageKind::kGradient), 0);
  EXPECT_EQ(found.total_seconds, 1.75);
}

}  // namespace
}  // namespace lowtide::trace
