// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/chain_offload.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace lowtide::solve {
namespace {

using Kind = OffloadPart::Kind;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Stages of one second and one unit each, and copies of a unit that take so many seconds.
struct Even {
  Even(std::size_t stages, double copy_seconds, std::int32_t most_room) {
    chain.forward_cost.assign(stages, 1);
    chain.saving_cost.assign(stages, 1);
    chain.saved_room.assign(stages, 1);
    chain.forward_room.assign(stages, 1);
    chain.saving_room.assign(stages, 1);
    chain.final_cost.assign(stages, 1);
    chain.final_room.assign(stages, 1);
    chain.final_saving_room.assign(stages, 1);
    chain.backward_room.assign(stages, 0);
    chain.others_room.assign(stages, 0);
    chain.input_room.assign(stages, std::vector<std::int32_t>(stages, 1));
    offload.input_seconds.assign(stages, copy_seconds);
    offload.saved_seconds.assign(stages, copy_seconds);
    offload.stage_seconds.assign(stages, 1);
    offload.room_per_second = 1 / copy_seconds;
    offload.backlog_seconds = 0.5;
    offload.most_backlog = 8;
    room = most_room;
  }

  double cost() const {
    const ChainReversal again(chain, room);
    return ChainOffload(chain, again, offload).cost(room);
  }
  std::vector<OffloadPart> parts() const {
    const ChainReversal again(chain, room);
    return ChainOffload(chain, again, offload).parts(room);
  }

  Chain chain;
  Offload offload;
  std::int32_t room = 0;
};

int count(const std::vector<OffloadPart>& parts, Kind kind) {
  int sum = 0;
  for (const OffloadPart& part : parts) sum += part.kind == kind ? 1 : 0;
  return sum;
}

TEST(ChainOffload, SavesAllWhereThereIsRoom) {
  const Even even(6, 1, 6);
  EXPECT_EQ(even.cost(), 6);
  EXPECT_EQ(count(even.parts(), Kind::kSave), 6);
}

TEST(ChainOffload, PutsAwayWhatTheLinkHasTimeFor) {
  // Copies as long as stages: nothing is gone through again.
  const Even even(12, 1, 4);
  EXPECT_EQ(even.cost(), 12);
  EXPECT_GT(count(even.parts(), Kind::kSaveAway), 5);
}

TEST(ChainOffload, ASlowLinkPutsAwayLess) {
  double last = 12;
  for (const double copy_seconds : {1.0, 2.0, 3.0, 6.0}) {
    const double cost = Even(12, copy_seconds, 5).cost();
    EXPECT_GE(cost, last) << copy_seconds;
    last = cost;
  }
  EXPECT_GT(last, 12);
}

TEST(ChainOffload, WithoutALinkItIsTheReversalAlone) {
  for (std::int32_t room = 1; room <= 9; ++room) {
    const Even even(9, kNever, room);
    EXPECT_EQ(even.cost(), ChainReversal(even.chain, room).cost(room)) << room;
  }
}

TEST(ChainOffload, PartsCoverTheChainInTurn) {
  const Even even(12, 2, 5);
  std::int32_t next = 0;
  for (const OffloadPart& part : even.parts()) {
    EXPECT_EQ(part.first, next);
    EXPECT_GE(part.last, part.first);
    next = part.last + 1;
  }
  EXPECT_EQ(next, 12);
}

}  // namespace
}  // namespace lowtide::solve
