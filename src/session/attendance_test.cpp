// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/attendance.h"

#include <gtest/gtest.h>

namespace lowtide::session {
namespace {

constexpr StepUse kFits = {.budget_bytes = 100, .peak_bytes = 100};

TEST(Attendance, StepsAsideWhenAStepFits) {
  Attendance attendance;
  EXPECT_TRUE(attendance.may_step_aside_after(kFits));
}

TEST(Attendance, StaysWhileSomethingIsEvicted) {
  Attendance attendance;
  EXPECT_FALSE(
      attendance.may_step_aside_after({.budget_bytes = 100, .peak_bytes = 90, .evictions = 1}));
}

TEST(Attendance, StaysWhenWhatTheStepMadeMayNotFitBesideTheNext) {
  Attendance attendance;
  StepUse step = {.budget_bytes = 100, .peak_bytes = 90, .growth_bytes = 11};
  EXPECT_FALSE(attendance.may_step_aside_after(step));
  step.growth_bytes = 10;
  EXPECT_TRUE(attendance.may_step_aside_after(step));
  step.growth_bytes = -50;
  step.peak_bytes = 101;
  EXPECT_FALSE(attendance.may_step_aside_after(step)) << "shrinking makes no room";
}

TEST(Attendance, AsksForMoreCalmStepsAfterEachSurprise) {
  Attendance attendance;
  const StepUse surprise = {.budget_bytes = 100, .peak_bytes = 100, .overflow_bytes = 8};
  EXPECT_FALSE(attendance.may_step_aside_after(surprise));
  for (const int patience : {4, 16}) {
    for (int i = 1; i < patience; ++i) EXPECT_FALSE(attendance.may_step_aside_after(kFits)) << i;
    EXPECT_TRUE(attendance.may_step_aside_after(kFits));
    EXPECT_TRUE(attendance.may_step_aside_after(kFits));
    EXPECT_FALSE(attendance.may_step_aside_after(surprise));
  }
}

}  // namespace
}  // namespace lowtide::session
