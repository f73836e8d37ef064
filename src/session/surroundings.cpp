// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/surroundings.h"

#include <algorithm>
#include <utility>

#include "base/median.h"

namespace lowtide::session {
namespace {

// Of a solid-state disk.
constexpr double kDiskLatencySeconds = 1e-4;
// A size at which latency does not matter.
constexpr std::int64_t kLargeCopyBytes = std::int64_t{256} << 20;

// What carrying out a plan takes the host, for an op that the plan leaves alone and for an action,
// in terms of what an op takes it by itself in the median. Measured with GPT-2 on an H200, where
// that is 8 microseconds: plans with 280 to 17,675 replays took the host 20 to 35 microseconds for
// a replay with its op and two thirds of a drop, and 0.7 for an op that was left alone, beside what
// it waited for the device.
constexpr double kWatchShare = 0.2;
constexpr double kActionShare = 1.5;

// The median, since the first call of an op may take long; 0 if none was measured.
double middle_host_seconds(const Trace& trace) {
  std::vector<double> seconds;
  for (const Op& op : trace.ops()) {
    if (op.host_seconds) seconds.push_back(*op.host_seconds);
  }
  return base::median(std::move(seconds)).value_or(0);
}

Machine machine_of(const engine::Device& device, const GuidanceOptions& options) {
  const auto rate = [](double seconds) { return static_cast<double>(kLargeCopyBytes) / seconds; };
  Machine machine;
  machine.name = device.name();
  machine.device_bytes = options.budget_bytes;
  machine.allocator.round_bytes = device.rounded(1);
  machine.allocator.expandable_segments = options.expandable_segments;
  machine.memory_bytes_per_second = rate(device.memory_seconds(kLargeCopyBytes));
  machine.op_seconds = device.memory_seconds(0);
  machine.launch_seconds = device.memory_seconds(0);
  // Where copies go on beside the work, the simulator does not yet begin a move that waits when
  // room is needed (docs/plan-format.md), so that plans would look quicker than they are.
  if (device.is_its_own_host()) machine.most_bytes_in_flight = options.most_bytes_in_flight;
  machine.tiers = {{.name = "host",
                    .capacity_bytes = options.host_cap_bytes,
                    .write_bytes_per_second = rate(device.copy_out_seconds(kLargeCopyBytes)),
                    .read_bytes_per_second = rate(device.copy_in_seconds(kLargeCopyBytes)),
                    .latency_seconds = device.copy_in_seconds(1),
                    .copies_beside_work = !device.is_its_own_host()}};
  if (const tier::SpillFile* file = options.spill_file.get()) {
    machine.tiers.push_back({.name = "disk",
                             .capacity_bytes = file->cap_bytes(),
                             .write_bytes_per_second = file->write_bytes_per_second(),
                             .read_bytes_per_second = file->read_bytes_per_second(),
                             .latency_seconds = kDiskLatencySeconds});
  }
  return machine;
}

std::int64_t held_and_away_bytes(ManagedDevice& managed) {
  run::Books& books = managed.runtime.books();
  run::Books::Lock lock(books);
  books.bury_dead(lock);
  std::int64_t bytes = managed.device.ledger().held_bytes();
  for (const run::Cell* cell : books.cells(lock)) {
    if (!cell->value->is_resident()) bytes += managed.device.rounded(cell->value->bytes);
  }
  return bytes;
}

}  // namespace

Machine machine_around(const Trace& trace, const engine::Device& device,
                       const GuidanceOptions& options) {
  Machine result = machine_of(device, options);
  // A host that computes by itself takes as long for an op as that takes, and far less for this.
  if (device.is_its_own_host()) return result;
  const double host_seconds = middle_host_seconds(trace);
  result.watch_seconds = kWatchShare * host_seconds;
  result.action_seconds = kActionShare * host_seconds;
  return result;
}

std::int64_t outside_bytes(ManagedDevice& managed, const Trace& trace) {
  std::int64_t outside = held_and_away_bytes(managed);
  for (const Storage& storage : trace.storages()) {
    if (storage.at_end) outside -= managed.device.rounded(storage.bytes);
  }
  return std::max<std::int64_t>(outside, 0);
}

}  // namespace lowtide::session
