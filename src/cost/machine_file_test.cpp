// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cost/machine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lowtide/errors.h"

namespace lowtide::cost {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(MachineFile, EveryNamedMachineComesBackAsItWas) {
  for (const std::string& name : machine_names()) {
    const std::string text = print_machine(machine_named(name));
    EXPECT_EQ(print_machine(parse_machine(text)), text) << name;
    EXPECT_EQ(parse_machine(text).name, name);
  }
}

TEST(MachineFile, LeavesDefaultsToWhatIsNotGiven) {
  const Machine machine = parse_machine(R"({"format": "lowtide-machine", "version": 1,
      "name": "desk", "device_bytes": 1024, "tiers": [{"name": "host", "capacity_bytes": 4096,
      "write_bytes_per_second": 2, "read_bytes_per_second": 3}]})");
  EXPECT_EQ(machine.device_bytes, 1024);
  ASSERT_EQ(machine.tiers.size(), 1U);
  EXPECT_EQ(machine.tiers[0].read_bytes_per_second, 3);
  EXPECT_EQ(machine.tiers[0].duplex, 1);
  EXPECT_EQ(machine.allocator.round_bytes, 512);
}

struct BadField {
  const char* pointer;
  json value;
  const char* message;
};

TEST(MachineFile, NamesTheFieldThatIsWrong) {
  const BadField cases[] = {
      {"/device_bytes", -1, "machine.device_bytes"},
      {"/tiers", json::array(), "machine.tiers"},
      {"/tiers/0/read_bytes_per_second", 0, "machine.tiers[0].read_bytes_per_second"},
      {"/tiers/0/duplex", 2, "machine.tiers[0].duplex"},
      {"/tiers/1/name", "host", "two tiers have the name host"},
      {"/tiers/1/name", "a b", "a b"},
      {"/allocator/round_bytes", 0, "machine.allocator.round_bytes"},
      {"/op_seconds", -1, "machine.op_seconds"},
      {"/flops_per_second", -1, "machine.flops_per_second"},
      // Sums of these would overflow.
      {"/op_seconds", 1e308, "machine.op_seconds: expected at most"},
      {"/tiers/0/latency_seconds", 1e308, "machine.tiers[0].latency_seconds: expected at most"},
      {"/tiers/0/read_bytes_per_second", 1e-300,
       "machine.tiers[0].read_bytes_per_second: expected"},
      {"/memory_bytes_per_second", 1e-300, "machine.memory_bytes_per_second: expected"},
      {"/allocator/round_bytes", std::int64_t{1} << 62, "machine.allocator.round_bytes: expected"},
      // Misspelt, and left out.
      {"/op_second", 1, "machine: unknown field 'op_second'; did you mean 'op_seconds'?"},
      {"/tiers/0/bandwidth", 1, "machine.tiers[0]: unknown field 'bandwidth'"},
      {"/allocator/round", 1, "machine.allocator: unknown field 'round'"},
      {"/version", 7, "version 7"},
  };
  for (const BadField& bad : cases) {
    json document = json::parse(print_machine(machine_named("h200")));
    document[json::json_pointer(bad.pointer)] = bad.value;
    try {
      parse_machine(document.dump());
      ADD_FAILURE() << bad.pointer << " was accepted";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(bad.message));
    }
  }
}

}  // namespace
}  // namespace lowtide::cost
