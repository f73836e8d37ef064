// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/links.h"

#include <array>

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::sim {
namespace {

using CopyId = Links::CopyId;
using Direction = Links::Direction;
constexpr auto kOut = Direction::kToTier;
constexpr auto kIn = Direction::kFromTier;
constexpr TierId kHost{0};
constexpr TierId kDisk{1};

std::vector<Tier> unit_tiers() { return unit_machine().tiers; }

TEST(Links, CopiesInOneDirectionFollowEachOther) {
  Links links(unit_tiers());
  const CopyId first = links.copy(kHost, kOut, 4, 1, {});
  const CopyId second = links.copy(kHost, kOut, 3, 2, {});
  const CopyId third = links.copy(kHost, kOut, 1, 20, {});
  EXPECT_EQ(links.finish_time(second), 8);
  EXPECT_EQ(links.finish_time(first), 5);
  EXPECT_EQ(links.finish_time(third), 21);
  EXPECT_EQ(links.use()[0].bytes, 8);
  EXPECT_EQ(links.use()[0].busy_seconds, 8);
}

TEST(Links, DirectionsDoNotDisturbEachOtherOnAFullDuplexLink) {
  Links links(unit_tiers());
  const CopyId out = links.copy(kHost, kOut, 4, 0, {});
  const CopyId in = links.copy(kHost, kIn, 4, 1, {});
  EXPECT_EQ(links.finish_time(out), 4);
  EXPECT_EQ(links.finish_time(in), 5);
}

TEST(Links, BothDirectionsSlowDownWhileBothAreBusy) {
  std::vector<Tier> tiers = unit_tiers();
  tiers[0].duplex = 0.5;
  Links links(tiers);
  const CopyId out = links.copy(kHost, kOut, 4, 0, {});
  const CopyId in = links.copy(kHost, kIn, 4, 2, {});
  // Alone from 0 to 2, then half as fast until the two bytes left are out at 6; by then two of
  // the other four are in, and the rest takes two seconds more.
  EXPECT_EQ(links.finish_time(out), 6);
  EXPECT_EQ(links.finish_time(in), 8);
}

TEST(Links, EveryCopyPaysTheLatencyWhichIsNotShared) {
  std::vector<Tier> tiers = unit_tiers();
  tiers[0].latency_seconds = 2;
  tiers[0].duplex = 0.5;
  Links links(tiers);
  const CopyId first = links.copy(kHost, kOut, 1, 0, {});
  const CopyId second = links.copy(kHost, kOut, 1, 0, {});
  const CopyId in = links.copy(kHost, kIn, 1, 1, {});
  EXPECT_EQ(links.finish_time(first), 3);  // bytes from 2 to 3
  EXPECT_EQ(links.finish_time(in), 4);     // bytes from 3 to 4
  EXPECT_EQ(links.finish_time(second), 6);
}

TEST(Links, CopyComesAfterWhatItDependsOn) {
  Links links(unit_tiers());
  const CopyId out = links.copy(kHost, kOut, 4, 0, {});
  const CopyId to_disk = links.copy(kDisk, kOut, 4, 0, std::array{out});
  const CopyId back = links.copy(kHost, kIn, 1, 0, std::array{Links::kNone, to_disk});
  EXPECT_EQ(links.finish_time(to_disk), 12);
  EXPECT_EQ(links.finish_time(back), 13);
}

TEST(Links, CopyThatIsNotReadyLetsOthersPass) {
  Links links(unit_tiers());
  const CopyId out = links.copy(kHost, kOut, 10, 0, {});
  const CopyId waiting = links.copy(kHost, kIn, 1, 0, std::array{out});
  const CopyId ready = links.copy(kHost, kIn, 2, 1, {});
  EXPECT_EQ(links.finish_time(ready), 3);
  EXPECT_EQ(links.finish_time(waiting), 11);
}

TEST(Links, WorkOnTheHostIsDoneOneThingAtATime) {
  Links links(unit_tiers());
  const CopyId out = links.copy(kHost, kOut, 2, 0, {});
  const CopyId first = links.host_work(5, 0, std::array{out});
  const CopyId second = links.host_work(1, 3, {});
  EXPECT_EQ(links.finish_time(first), 7);
  EXPECT_EQ(links.finish_time(second), 8);
}

TEST(Links, WhatHasFinishedIsReportedOnceAndInOrder) {
  Links links(unit_tiers());
  const CopyId slow = links.copy(kHost, kOut, 5, 0, {});
  const CopyId quick = links.copy(kHost, kIn, 2, 0, {});
  links.advance_to(1);
  EXPECT_TRUE(links.take_finished().empty());
  links.advance_to(5);
  EXPECT_EQ(links.take_finished(), (std::vector<CopyId>{quick, slow}));
  EXPECT_TRUE(links.take_finished().empty());
  EXPECT_EQ(links.finish_all(), slow);
}

TEST(Links, NothingCanBeIssuedIntoThePast) {
  Links links(unit_tiers());
  links.advance_to(5);
  EXPECT_THROW(links.copy(kHost, kOut, 1, 4, {}), InternalError);
}

TEST(Links, LinkWithoutSpeedIsRefused) {
  std::vector<Tier> tiers = unit_tiers();
  tiers[1].read_bytes_per_second = 0;
  EXPECT_THROW(Links{tiers}, InvalidInput);
}

}  // namespace
}  // namespace lowtide::sim
