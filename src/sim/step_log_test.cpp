// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/step_log.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// Runs plain at 0-1, 1-2, 2-12, 12-22 and 22-23 seconds; a byte a second to and from the host.
constexpr std::string_view kIdle = R"(
storage x 1 input start end
storage a 4 activation
storage b 3 activation
storage c 2 activation
storage e 5 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward : a -> b
op f2 forward device=10 : b -> c
op f3 forward device=10 workspace=7 : c -> e
op f4 forward : a e -> d
)";

std::string stays_of(const TestStep& step, const StepLog& log, std::string_view wanted) {
  std::string text;
  for (const Stay& stay : log.stays) {
    const bool is_wanted = stay.storage.valid()
                               ? step.problem.trace->storage(stay.storage).name == wanted
                               : wanted == "workspace";
    if (!is_wanted) continue;
    text += std::to_string(static_cast<int>(stay.start_seconds)) + "-" +
            std::to_string(static_cast<int>(stay.end_seconds)) + ";";
  }
  return text;
}

TEST(StepLog, TellsWhenAMovedStorageLayOnTheDevice) {
  const TestStep step(kIdle);
  StepLog log;
  simulate_logged(step.problem, step.plan("move a.0 host after 1\nfetch a.0 issue 3 need 4\n"),
                  log);
  EXPECT_EQ(stays_of(step, log, "a"), "0-6;12-23;") << "the copy takes 2 to 6, and 12 to 16";
  EXPECT_EQ(stays_of(step, log, "x"), "0-23;");
  EXPECT_EQ(stays_of(step, log, "workspace"), "12-22;");
  ASSERT_EQ(log.copies.size(), 2U);
  EXPECT_TRUE(log.copies[0].to_tier);
  EXPECT_EQ(log.copies[0].start_seconds, 2);
  EXPECT_EQ(log.copies[0].end_seconds, 6);
  EXPECT_FALSE(log.copies[1].to_tier);
  EXPECT_EQ(log.copies[1].start_seconds, 12);
  EXPECT_EQ(log.copies[1].end_seconds, 16);
}

TEST(StepLog, TellsReplaysFromOps) {
  const TestStep step(kIdle);
  StepLog log;
  const Timeline timeline =
      simulate_logged(step.problem, step.plan("drop a.0 after 1\nrun 0 before 4\n"), log);
  ASSERT_EQ(log.works.size(), 6U);
  EXPECT_EQ(log.works[4].kind, Work::Kind::kReplay);
  EXPECT_EQ(log.works[4].op, OpId{0});
  EXPECT_EQ(log.works[4].tick, OpId{4});
  EXPECT_EQ(log.works[4].start_seconds, 22);
  EXPECT_EQ(log.works[4].end_seconds, 23);
  EXPECT_EQ(timeline.seconds, 24);
  EXPECT_EQ(stays_of(step, log, "a"), "0-2;22-24;");
}

// The log and the timeline are written by different code: they must say the same.
TEST(StepLog, StaysSumUpToTheTimelinesPeak) {
  const TestStep step(kIdle);
  StepLog log;
  const Timeline timeline = simulate_logged(
      step.problem, step.plan("move a.0 host after 1\nfetch a.0 issue 3 need 4\n"), log);
  std::int64_t most = 0;
  for (const Stay& at : log.stays) {
    std::int64_t bytes = 0;
    for (const Stay& stay : log.stays) {
      const bool is_there =
          stay.start_seconds <= at.start_seconds + 0.5 && at.start_seconds + 0.5 < stay.end_seconds;
      if (is_there) bytes += stay.bytes;
    }
    most = std::max(most, bytes);
  }
  EXPECT_EQ(most, timeline.peak_bytes);
}

}  // namespace
}  // namespace lowtide::sim
