// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cost/op_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::cost {
namespace {

using testing::ElementsAre;

// 10 flops and 2 bytes a second; at least half a second an op.
Machine small_machine() {
  Machine machine = unit_machine();
  machine.flops_per_second = 10;
  machine.memory_bytes_per_second = 2;
  machine.op_seconds = 0.5;
  machine.launch_seconds = 0.125;
  return machine;
}

Trace trace_of(const std::string& lines) {
  return trace::parse_text(
      "lowtide-trace 1\nname t\nstorage x 6 input start\nstorage w 4 parameter start end\n"
      "storage y 2 temporary\n" +
      lines);
}

struct SecondsCase {
  std::string op;
  double seconds;
};

TEST(OpSeconds, AreMeasuredOrElseTheSlowerOfArithmeticAndTraffic) {
  const SecondsCase cases[] = {
      {"op f forward device=7 flops=1000 : x w -> y", 7},
      {"op f forward device=0 flops=1000 : x w -> y", 0},
      {"op f forward : x w -> y", 6},                        // 12 bytes
      {"op f forward flops=100 : x w -> y", 10},             // arithmetic is slower
      {"op f forward flops=10 accessed=30 : x w -> y", 15},  // traffic as stated
      {"op f forward flops=1 accessed=1 : x w -> y", 0.5},   // never below the least
      {"op f forward : w -> w y", 5},                        // in place: read and written
      {"op f forward : -> y | x", 1},                        // views cost no traffic
  };
  for (const SecondsCase& c : cases) {
    const Trace trace = trace_of(c.op + "\n");
    EXPECT_DOUBLE_EQ(op_seconds(trace, trace.ops()[0], small_machine()), c.seconds) << c.op;
  }
}

TEST(OpSeconds, IgnoreARateThatTheMachineDoesNotState) {
  const Trace trace = trace_of("op f forward flops=100 accessed=100 : -> y\n");
  EXPECT_EQ(op_seconds(trace, trace.ops()[0], unit_machine()), 1);
}

TEST(IssueSeconds, AreMeasuredOrElseTheMachines) {
  const Trace trace = trace_of("op f forward host=3 : -> y\nop g forward : y ->\n");
  EXPECT_EQ(issue_seconds(trace.ops()[0], small_machine()), 3);
  EXPECT_EQ(issue_seconds(trace.ops()[1], small_machine()), 0.125);
}

TEST(DeviceBytes, AreRoundedAsTheAllocatorRounds) {
  Machine machine = unit_machine();
  Storage storage;
  storage.bytes = 513;
  EXPECT_EQ(device_bytes(storage, machine), 513);
  machine.allocator.round_bytes = 512;
  EXPECT_EQ(device_bytes(storage, machine), 1024);
  EXPECT_EQ(device_bytes(0, machine), 0);
  EXPECT_EQ(device_bytes(1, machine), 512);
}

TEST(CopySeconds, AreLatencyAndBytesOverTheRateOfTheDirection) {
  const Tier tier{.name = "host",
                  .capacity_bytes = 100,
                  .write_bytes_per_second = 2,
                  .read_bytes_per_second = 4,
                  .latency_seconds = 0.5};
  EXPECT_EQ(write_seconds(tier, 8), 4.5);
  EXPECT_EQ(read_seconds(tier, 8), 2.5);
  EXPECT_EQ(read_seconds(tier, 0), 0.5);
}

TEST(CostTable, HoldsWhatTheFunctionsGive) {
  Machine machine = small_machine();
  machine.allocator.round_bytes = 4;
  const Trace trace =
      trace_of("op f forward device=7 workspace=5 : x -> y\nop g forward : y w -> w\n");
  const CostTable table(trace, machine);
  EXPECT_THAT(table.op_seconds, ElementsAre(7, 5));
  EXPECT_EQ(table.op(OpId{1}), 5);
  EXPECT_EQ(table.total_seconds, 12);
  EXPECT_THAT(table.value_bytes, ElementsAre(8, 4, 4, 4));  // x.0 w.0 y.0 w.1
  EXPECT_EQ(table.value(ValueId{0}), 8);
  EXPECT_EQ(table.workspace(OpId{0}), 8);
  EXPECT_EQ(table.workspace(OpId{1}), 0);
}

}  // namespace
}  // namespace lowtide::cost
