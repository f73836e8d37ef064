// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/spread.h"

#include <limits>

#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

// a is away from tick 0 to 5, b from 1 to 4, c from 2 to 3; w begins and ends away.
constexpr std::string_view kNested = R"(
storage w 4 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op f forward : -> a
op g forward : a -> b
op h forward : b -> c
op i backward : c -> d
op j backward : b d -> d
op k backward : a d -> d
op l optimizer : w d -> w
)";
constexpr std::string_view kAllAway = R"(
starts w host
move a.0 host after 1
move b.0 host after 2
fetch b.0 issue 4 need 4
fetch a.0 issue 5 need 5
fetch w.0 issue 6 need 6
move w.1 host after 6
)";

Problem with_disk(std::int64_t host_bytes, std::int64_t disk_bytes) {
  Problem problem = problem_of(kNested);
  problem.machine.tiers.resize(1);
  problem.machine.tiers[0].capacity_bytes = host_bytes;
  problem.machine.tiers.push_back(problem.machine.tiers[0]);
  problem.machine.tiers[1].name = "disk";
  problem.machine.tiers[1].capacity_bytes = disk_bytes;
  problem.machine.tiers[1].write_bytes_per_second = 0.25;
  problem.machine.tiers[1].read_bytes_per_second = 0.5;
  return problem;
}

// The tiers of w, a and b.
std::string tiers_of(const Problem& problem, const Plan& plan) {
  std::string names;
  const auto add = [&](StorageId storage, TierId tier) {
    names += problem.trace->storage(storage).name + " " + problem.machine.tier(tier).name + ";";
  };
  for (const StartsIn& start : plan.starts) add(start.storage, start.tier);
  for (const Action& action : plan.actions) {
    if (const Move* move = std::get_if<Move>(&action)) {
      add(problem.trace->value(move->value).storage, move->tier);
    }
  }
  return names;
}

std::string spread(std::int64_t host_bytes) {
  const Problem problem = with_disk(host_bytes, 100);
  const Plan plan = spread_over_tiers(problem, plan_of(problem, kAllAway));
  EXPECT_EQ(violations_of(verify(problem, plan)), "") << host_bytes;
  return tiers_of(problem, plan);
}

TEST(Spread, APlanThatFitsStaysAsItIs) { EXPECT_EQ(spread(12), "w host;a host;b host;w host;"); }

TEST(Spread, WhatIsAwayLongestGoesToTheDiskAndHalfTheHostIsLeft) {
  EXPECT_EQ(spread(11), "w disk;a disk;b host;w disk;");
  EXPECT_EQ(spread(8), "w disk;a disk;b host;w disk;");
  EXPECT_EQ(spread(7), "w disk;a disk;b disk;w disk;");
  EXPECT_EQ(spread(0), "w disk;a disk;b disk;w disk;");
}

TEST(Spread, WithoutASecondTierNothingChanges) {
  Problem problem = problem_of(kNested);
  problem.machine.tiers.resize(1);
  const Plan plan = plan_of(problem, kAllAway);
  EXPECT_EQ(spread_over_tiers(problem, plan), plan);
  EXPECT_EQ(with_one_tier(problem).machine.tiers.size(), 1U);
}

TEST(Spread, OneTierHasTheRoomOfAllAndTheSpeedOfTheSlowest) {
  const Tier one = with_one_tier(with_disk(8, 100)).machine.tiers.front();
  EXPECT_EQ(one.name, "host");
  EXPECT_EQ(one.capacity_bytes, 108);
  EXPECT_EQ(one.write_bytes_per_second, 0.25);
  EXPECT_EQ(one.read_bytes_per_second, 0.5);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(with_one_tier(with_disk(8, most)).machine.tiers.front().capacity_bytes, most);
}

}  // namespace
}  // namespace lowtide::plan
