// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/device_memory.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::sim {
namespace {

constexpr auto kKind = StorageKind::kActivation;

DeviceMemory with_budget(std::int64_t bytes) { return {unit_machine().allocator, bytes}; }

void let_leave(DeviceMemory& memory, std::int64_t bytes, Links::CopyId copy) {
  memory.start_leaving(ValueId{copy}, copy, memory.allocate(bytes, kKind));
}

TEST(DeviceMemory, RemembersTheFullestMomentOfATick) {
  DeviceMemory memory = with_budget(100);
  memory.begin_tick();
  Piece workspace = memory.allocate(5, StorageKind::kWorkspace);
  Piece value = memory.allocate(3, kKind);
  memory.free(workspace);
  memory.allocate(1, kKind);
  EXPECT_EQ(memory.fullest().total_bytes, 8);
  EXPECT_EQ(memory.fullest().bytes[static_cast<std::size_t>(StorageKind::kWorkspace)], 5);
  memory.begin_tick();
  memory.free(value);
  EXPECT_EQ(memory.fullest().total_bytes, 4);
}

TEST(DeviceMemory, CountsTheSameWithoutAModelOfTheAllocator) {
  DeviceMemory memory(100);
  memory.begin_tick();
  Piece value = memory.allocate(3, kKind);
  EXPECT_NE(value.block, AllocatorModel::kNothing);
  EXPECT_EQ(memory.allocate(0, kKind).block, AllocatorModel::kNothing);
  EXPECT_EQ(memory.fullest().total_bytes, 3);
  memory.free(value);
  memory.begin_tick();
  EXPECT_EQ(memory.fullest().total_bytes, 0);
}

TEST(DeviceMemory, AsManyMovesAreInTheWayAsTheirBytesAreNeeded) {
  DeviceMemory memory = with_budget(10);
  for (const Links::CopyId copy : {0, 1, 2}) let_leave(memory, 3, copy);
  const struct {
    std::int64_t bytes;
    std::size_t moves;
  } rows[] = {{0, 0}, {1, 0}, {2, 1}, {4, 1}, {5, 2}, {10, 3}, {99, 3}};
  for (const auto& row : rows) {
    EXPECT_EQ(memory.moves_in_the_way(row.bytes), row.moves) << row.bytes;
  }
  memory.end_leaving(0);
  EXPECT_EQ(memory.moves_in_the_way(4), 0U);
  EXPECT_EQ(memory.moves_in_the_way(5), 1U);
}

TEST(DeviceMemory, PromisedRoomIsNotGivenAway) {
  DeviceMemory memory = with_budget(10);
  for (const Links::CopyId copy : {0, 1}) let_leave(memory, 4, copy);
  // Two bytes are free now. A fetch of five is promised the end of the first move, where six are.
  ASSERT_EQ(memory.moves_in_the_way(5), 1U);
  memory.promise(0, ValueId{7}, 5);
  EXPECT_EQ(memory.moves_in_the_way(1), 0U);
  EXPECT_EQ(memory.moves_in_the_way(2), 2U);
  EXPECT_EQ(memory.end_leaving(0), std::vector<ValueId>{ValueId{7}});
  memory.allocate(5, kKind);
  EXPECT_EQ(memory.moves_in_the_way(1), 0U);
  EXPECT_EQ(memory.moves_in_the_way(2), 1U);
}

TEST(DeviceMemory, MovesEndInTheOrderInWhichTheyBegan) {
  DeviceMemory memory = with_budget(10);
  for (const Links::CopyId copy : {0, 1}) let_leave(memory, 4, copy);
  EXPECT_THROW(memory.end_leaving(1), InternalError);
}

}  // namespace
}  // namespace lowtide::sim
