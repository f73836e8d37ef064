// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/machine.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide {
namespace {

using testing::ElementsAre;

TEST(Machines, AreFoundByTheirNames) {
  EXPECT_THAT(machine_names(), ElementsAre("h200", "pcie4", "unit"));
  for (const std::string& name : machine_names()) EXPECT_EQ(machine_named(name).name, name);
}

TEST(Machines, ThatAreUnknownAreRefusedWithAListOfThoseThatAreNot) {
  try {
    machine_named("abacus");
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "unknown machine 'abacus'; known are h200, pcie4, unit");
  }
}

TEST(Machines, HaveTiersThatGetSlowerAndCanBeUsed) {
  for (const std::string& name : machine_names()) {
    const Machine machine = machine_named(name);
    ASSERT_GE(machine.tiers.size(), 1U) << name;
    EXPECT_EQ(machine.tier(TierId{0}).name, "host") << name;
    EXPECT_GT(machine.device_bytes, 0) << name;
    EXPECT_GT(machine.op_seconds, 0) << name;
    double slower_than = 1e18;
    for (const Tier& tier : machine.tiers) {
      EXPECT_GT(tier.capacity_bytes, 0) << name;
      EXPECT_GT(tier.write_bytes_per_second, 0) << name;
      EXPECT_GT(tier.duplex, 0) << name;
      EXPECT_LE(tier.duplex, 1) << name;
      EXPECT_LT(tier.read_bytes_per_second, slower_than) << name;
      slower_than = tier.read_bytes_per_second;
    }
  }
}

TEST(UnitMachine, MovesOneByteASecondAndRoundsNothing) {
  const Machine machine = unit_machine();
  EXPECT_EQ(machine.tiers[0].write_bytes_per_second, 1);
  EXPECT_EQ(machine.tiers[0].read_bytes_per_second, 1);
  EXPECT_EQ(machine.tiers[0].latency_seconds, 0);
  EXPECT_EQ(machine.op_seconds, 1);
  EXPECT_EQ(machine.launch_seconds, 0);
  EXPECT_EQ(machine.allocator.round_bytes, 1);
}

}  // namespace
}  // namespace lowtide
