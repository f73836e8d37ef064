// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/machine.h"

#include <array>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide {
namespace {

using base::kGiB;

// Links and disk as measured on one H200 machine with pinned memory and O_DIRECT; arithmetic and
// memory speed are what its kernels reach, not the data sheet's.
Machine h200() {
  Machine machine;
  machine.name = "h200";
  machine.device_bytes = 139 * kGiB;
  machine.tiers = {Tier{.name = "host",
                        .capacity_bytes = 96 * kGiB,
                        .write_bytes_per_second = 55.2e9,
                        .read_bytes_per_second = 55.4e9,
                        .latency_seconds = 10e-6,
                        .duplex = 0.92},
                   Tier{.name = "disk",
                        .capacity_bytes = 512 * kGiB,
                        .write_bytes_per_second = 2.1e9,
                        .read_bytes_per_second = 4.0e9,
                        .latency_seconds = 100e-6,
                        .duplex = 0.5}};
  machine.flops_per_second = 4e14;
  machine.memory_bytes_per_second = 4e12;
  machine.op_seconds = 2e-6;
  machine.launch_seconds = 4e-6;
  return machine;
}

// A card behind a PCIe 4.0 x16 link: 31.5 GB/s by the standard, of which about four fifths arrive.
Machine pcie4() {
  Machine machine = h200();
  machine.name = "pcie4";
  machine.device_bytes = 24 * kGiB;
  machine.tiers[0].write_bytes_per_second = 25e9;
  machine.tiers[0].read_bytes_per_second = 25e9;
  machine.flops_per_second = 1e14;
  machine.memory_bytes_per_second = 8e11;
  return machine;
}

struct NamedMachine {
  const char* name;
  Machine (*make)();
};
constexpr std::array<NamedMachine, 3> kMachines{
    {{"h200", h200}, {"pcie4", pcie4}, {"unit", unit_machine}}};

}  // namespace

Machine unit_machine() {
  Machine machine;
  machine.name = "unit";
  machine.device_bytes = std::int64_t{1} << 50;
  machine.tiers = {Tier{.name = "host",
                        .capacity_bytes = std::int64_t{1} << 50,
                        .write_bytes_per_second = 1,
                        .read_bytes_per_second = 1},
                   Tier{.name = "disk",
                        .capacity_bytes = std::int64_t{1} << 50,
                        .write_bytes_per_second = 0.5,
                        .read_bytes_per_second = 0.5}};
  machine.allocator.round_bytes = 1;
  machine.op_seconds = 1;
  return machine;
}

Machine machine_named(std::string_view name) {
  std::string known;
  for (const NamedMachine& machine : kMachines) {
    if (name == machine.name) return machine.make();
    known += std::string(known.empty() ? "" : ", ") + machine.name;
  }
  throw InvalidInput(base::concat("unknown machine '", name, "'; known are ", known));
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  names.reserve(kMachines.size());
  for (const NamedMachine& machine : kMachines) names.emplace_back(machine.name);
  return names;
}

}  // namespace lowtide
