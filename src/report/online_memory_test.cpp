// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/online_memory.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_run.h"

namespace lowtide::report {
namespace {

using Kind = plan::OnlineDeed::Kind;

std::vector<std::int64_t> bytes_of(const Timeline& timeline) {
  std::vector<std::int64_t> bytes;
  for (const TickUse& tick : timeline.ticks) bytes.push_back(tick.total_bytes());
  return bytes;
}

// w lies outside until op 1, a is moved by op 2 and back for op 4, b goes with op 2 and does not
// come back.
TEST(OnlineMemory, IsThePlainStepsLessWhatWasAway) {
  RunRecord record = test_record(kIdleStep, {}, 16);
  record.online = {{.kind = Kind::kFetch, .storage = StorageId{0}, .op = OpId{1}},
                   {.kind = Kind::kMove, .storage = StorageId{1}, .op = OpId{2}},
                   {.kind = Kind::kDrop, .storage = StorageId{2}, .op = OpId{3}},
                   {.kind = Kind::kFetch, .storage = StorageId{1}, .op = OpId{4}}};
  const Study result = study(record, 1);
  const std::vector<std::int64_t> plain = bytes_of(result.plain.timeline);
  const Timeline kept = memory_under_online_rule(result);
  EXPECT_THAT(bytes_of(kept), testing::ElementsAre(plain[0] - 2, plain[1], plain[2] - 4,
                                                   plain[3] - 4, plain[4], plain[5]));
  EXPECT_EQ(kept.peak_bytes, plain[3] - 4);
  EXPECT_EQ(kept.peak_op, OpId{3});
}

TEST(OnlineMemory, IsThePlainStepsWhereNothingWasDone) {
  RunRecord record = test_record(kIdleStep, {}, 100);
  record.online.emplace();
  const Study result = study(record, 1);
  EXPECT_EQ(bytes_of(memory_under_online_rule(result)), bytes_of(result.plain.timeline));
}

// What the program releases before an op uses it is away all the while.
TEST(OnlineMemory, KnowsWhatLayOutsideUntilItWasReleased) {
  RunRecord record = test_record(kIdleStep, {}, 16);
  record.online = {{.kind = Kind::kAway, .storage = StorageId{0}, .op = OpId{0}}};
  const Study result = study(record, 1);
  EXPECT_EQ(bytes_of(memory_under_online_rule(result)).front(),
            bytes_of(result.plain.timeline).front() - 2);
}

}  // namespace
}  // namespace lowtide::report
