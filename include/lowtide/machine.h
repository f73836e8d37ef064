// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/ids.h"

namespace lowtide {

/// A place other than the device where values can lie. The first tier of a machine is host memory;
/// every further one lies behind it, and what goes there passes through host memory.
struct Tier {
  std::string name;
  std::int64_t capacity_bytes = 0;
  /// Towards the tier, away from the device.
  double write_bytes_per_second = 0;
  /// From the tier, towards the device.
  double read_bytes_per_second = 0;
  double latency_seconds = 0;
  /// The share of its speed that each direction keeps while both are busy.
  double duplex = 1;
  /// Whether the device goes on computing while it copies to and from this tier, if that is host
  /// memory. False where it copies by itself, as a CPU does: then it does nothing else meanwhile.
  bool copies_beside_work = true;
};

/// How torch's caching allocator turns requests into segments (defaults: torch 2.11).
struct AllocatorRules {
  std::int64_t round_bytes = 512;
  /// Requests up to this size come from the small pool.
  std::int64_t small_bytes = std::int64_t{1} << 20;
  std::int64_t small_segment_bytes = std::int64_t{2} << 20;
  /// Large requests below this size share segments of large_segment_bytes.
  std::int64_t large_request_bytes = std::int64_t{10} << 20;
  std::int64_t large_segment_bytes = std::int64_t{20} << 20;
  std::int64_t large_round_bytes = std::int64_t{2} << 20;
  bool expandable_segments = false;
};

/// Where plans run: the device, the tiers behind it, and what things cost there.
struct Machine {
  std::string name;
  std::int64_t device_bytes = 0;
  std::vector<Tier> tiers;
  AllocatorRules allocator;
  /// Roofline for ops that were not measured: the slower of arithmetic and memory traffic, and at
  /// least op_seconds.
  double flops_per_second = 0;
  double memory_bytes_per_second = 0;
  double op_seconds = 0;
  /// Host time to issue an op whose own was not measured.
  double launch_seconds = 0;
  /// Host time that a run under a plan takes beyond that: for each op, and for each action.
  double watch_seconds = 0;
  double action_seconds = 0;
  /// A copy between the device and host memory is not begun while more bytes than this would be on
  /// the way in its direction, unless there are none (docs/plan-format.md).
  std::int64_t most_bytes_in_flight = std::numeric_limits<std::int64_t>::max();

  const Tier& tier(TierId id) const { return tiers[id.slot()]; }
};

/// One byte a second, one second an op, no rounding, no latency: numbers that a reader can check in
/// the head.
Machine unit_machine();

/// A machine by name ("h200", "pcie4", "unit"). Throws InvalidInput listing the names.
Machine machine_named(std::string_view name);
std::vector<std::string> machine_names();

}  // namespace lowtide
