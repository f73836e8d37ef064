// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/stop_signal.h"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(StopSignal, NotesTheFirstOne) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const StopSignal stop;
    EXPECT_FALSE(StopSignal::came());
    std::raise(signal);
    EXPECT_TRUE(StopSignal::came());
  }
}

TEST(StopSignalDeath, TheSecondOneEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopSignal stop;
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace lowtide::cli
