// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/warn.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace lowtide::session {
namespace {

std::string warning() {
  testing::internal::CaptureStderr();
  warn("the disk is full");
  return testing::internal::GetCapturedStderr();
}

TEST(Warn, NamesTheRankWhereThereAreSeveral) {
  unsetenv("RANK");
  EXPECT_EQ(warning(), "lowtide: the disk is full\n");
  setenv("RANK", "3", 1);
  EXPECT_EQ(warning(), "lowtide[3]: the disk is full\n");
  unsetenv("RANK");
}

}  // namespace
}  // namespace lowtide::session
