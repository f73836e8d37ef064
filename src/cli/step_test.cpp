// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/step.h"

#include <csignal>
#include <memory>

#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli/stop_signal.h"
#include "trace/text.h"

namespace lowtide::cli {
namespace {

// Values that are all needed again, of which four fit at once.
PlainStep twelve_values() {
  std::string text = "lowtide-trace 1\nname twelve\n";
  for (int i = 0; i < 12; ++i) text += "storage s" + std::to_string(i) + " 4 activation\n";
  for (int i = 0; i < 12; ++i) text += "op f forward : -> s" + std::to_string(i) + "\n";
  for (int i = 0; i < 12; ++i) text += "op g backward : s" + std::to_string(i) + " ->\n";
  return {std::make_shared<const Trace>(trace::parse_text(text)), machine_named("unit")};
}

constexpr std::int64_t kBudget = 16;

// The search would take hours.
TEST(PlanStep, ASearchTakesItsBestSoFarWhenTheUserStopsIt) {
  const PlainStep step = twelve_values();
  const Planner planner = make_planner("swapadvisor", {"generations=1000000"});
  const StopSignal signal;
  int asked = 0;
  const auto outcome = plan_step(step, planner, kBudget, [&](double) {
    if (++asked == 40) std::raise(SIGINT);
  });
  ASSERT_TRUE(std::holds_alternative<PlannedStep>(outcome));
  EXPECT_TRUE(std::get<PlannedStep>(outcome).was_stopped);
  EXPECT_LE(std::get<PlannedStep>(outcome).timeline.peak_bytes, kBudget);
  EXPECT_EQ(asked, 40);
  EXPECT_EQ(unless_stopped(ExitCode::kDone), ExitCode::kInterrupted);
}

TEST(PlanStep, WhatIsNotStoppedSaysSo) {
  const PlainStep step = twelve_values();
  const StopSignal signal;
  const auto outcome = plan_step(step, make_planner("swapadvisor", {}), kBudget);
  ASSERT_TRUE(std::holds_alternative<PlannedStep>(outcome));
  EXPECT_FALSE(std::get<PlannedStep>(outcome).was_stopped);
  EXPECT_EQ(unless_stopped(ExitCode::kDone), ExitCode::kDone);
}

}  // namespace
}  // namespace lowtide::cli
