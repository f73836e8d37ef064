// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/disk_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/tier/tier_test.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;

TEST(DiskProbe, MeasuresBothWaysAndLeavesNothing) {
  const tier::TempFolder folder;
  const DiskFacts facts = probe_disk(folder.path(), (1 << 20) + 1);
  EXPECT_EQ(facts.failure, "");
  EXPECT_GT(facts.write_bytes_per_second, 0);
  EXPECT_GT(facts.read_bytes_per_second, 0);
  EXPECT_EQ(facts.io, may_use_uring() ? "io_uring" : "threads");
  EXPECT_TRUE(folder.is_empty());
}

TEST(DiskProbe, SaysWhatIsWrongWithAFolder) {
  EXPECT_THAT(probe_disk("nowhere", 1 << 20).failure, HasSubstr("does not exist"));
  EXPECT_THAT(probe_disk("/dev/null", 1 << 20).failure, HasSubstr("is no folder"));
  // Nobody makes files there, not even root.
  EXPECT_THAT(probe_disk("/proc", 1 << 20).failure, HasSubstr("no file can be made"));
}

TEST(DiskProbe, WritesNothingWhereThereIsNoRoom) {
  const tier::TempFolder folder;
  EXPECT_THAT(probe_disk(folder.path(), std::int64_t{1} << 60).failure, HasSubstr("no room"));
}

}  // namespace
}  // namespace lowtide::cli
