// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/memory.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(SmallBudget, OfAGpuCapsWhatIsHandedOut) {
  EXPECT_FALSE(session_options({}, 100 * kMiB, "cuda:0").cap_reserved);
  EXPECT_THAT(note_on_budget(100 * kMiB, "cuda:0"), testing::HasSubstr("below 200.0 MiB"));
}

TEST(SmallBudget, IsNoneAbove200MiBOnTheCpuOrIfThereIsNone) {
  for (const auto& [bytes, device] :
       {std::pair(200 * kMiB, "cuda:0"), {100 * kMiB, "cpu"}, {std::int64_t{0}, "cuda:0"}}) {
    EXPECT_TRUE(session_options({}, bytes, device).cap_reserved) << device << ' ' << bytes;
    EXPECT_EQ(note_on_budget(bytes, device), "") << device << ' ' << bytes;
  }
}

SessionOptions with_host_cap(const std::string& cap, const std::string& tiers = "host") {
  MemoryOptions memory;
  memory.tiers = tiers;
  memory.host_cap = cap;
  return session_options(memory, kMiB, "cpu");
}

TEST(HostCap, IsTheSessions) {
  EXPECT_EQ(with_host_cap("2MiB").host_cap, "2MiB");
  EXPECT_EQ(with_host_cap("").host_cap, "");
}

TEST(HostCap, MustBeASizeOfATierThatIsUsed) {
  EXPECT_THROW(with_host_cap("much"), InvalidInput);
  EXPECT_THROW(with_host_cap("0"), InvalidInput);
  EXPECT_THROW(with_host_cap("2MiB", "none"), InvalidInput);
}

}  // namespace
}  // namespace lowtide::train
