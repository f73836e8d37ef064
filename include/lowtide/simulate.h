// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide {

/// Why the device stood still.
enum class StallCause : std::uint8_t {
  kFetch,  // a value was still on its way in
  kRoom,   // a value was still on its way out, and its bytes were needed
  kHost,   // the host had not issued the op yet
  kDrain,  // copies were still under way when the last op had ended
  kCopy,   // it copied a value itself: Tier::copies_beside_work
};
inline constexpr std::size_t kStallCauses = 5;
std::string_view to_string(StallCause cause);

struct Stall {
  StallCause cause = StallCause::kFetch;
  OpId op;
  /// What was waited for; not valid for kHost.
  ValueId value;
  double seconds = 0;
};

/// The device while one tick runs.
struct TickUse {
  OpId op;
  double start_seconds = 0;
  double end_seconds = 0;
  /// Bytes allocated at the fullest moment of the tick, by StorageKind; the workspace of the
  /// running op under kWorkspace.
  std::array<std::int64_t, kStorageKinds> bytes{};
  /// Bytes at that moment that belong to copies on their way out.
  std::int64_t leaving_bytes = 0;

  std::int64_t total_bytes() const;
};

/// Use of one direction of the link to a tier.
struct LinkUse {
  TierId tier;
  bool to_tier = true;
  std::int64_t bytes = 0;
  double busy_seconds = 0;
};

/// An action of the plan that was carried out.
struct ActionDone {
  /// In whose tick.
  OpId op;
  /// Index into Plan::actions.
  std::int32_t action = 0;
  friend bool operator==(const ActionDone&, const ActionDone&) = default;
};

/// What a step does under a plan, by the virtual clocks of host, device and links.
struct Timeline {
  double seconds = 0;
  /// Sum of the plain ops on the device.
  double compute_seconds = 0;
  double recompute_seconds = 0;
  double codec_seconds = 0;
  std::int64_t replays = 0;
  std::int64_t peak_bytes = 0;
  OpId peak_op;
  /// What the model of torch's caching allocator took from the device.
  std::int64_t reserved_peak_bytes = 0;
  /// Requests that did not fit under the budget even after giving back every unused segment.
  std::int64_t fragmentation_failures = 0;
  std::vector<std::int64_t> tier_peak_bytes;
  std::vector<TickUse> ticks;
  /// In order of time; kHost only in sum, there is one for nearly every op of a small model.
  std::vector<Stall> stalls;
  std::array<double, kStallCauses> stall_seconds{};
  std::vector<LinkUse> links;
  /// In the order in which they were issued. Not those that only say how: Hold, Choose, Place,
  /// Order.
  std::vector<ActionDone> actions;
  /// In order of time.
  std::vector<Departure> departures;

  double total_stall_seconds() const;
};

/// What no plan for this problem can beat, and what this plan cannot.
struct LowerBounds {
  /// The largest set of bytes that a single op needs at once.
  std::int64_t working_set_bytes = 0;
  OpId working_set_op;
  /// The plain step, all copies free.
  double compute_seconds = 0;
  /// The plan's bytes over the speed of the busiest link direction.
  double transfer_seconds = 0;
};

/// Runs the step under a plan that verify() accepts. Throws InvalidInput if the plan reads what is
/// not there; a plan that is over its budget runs to the end, and the timeline says so.
Timeline simulate(const Problem& problem, const Plan& plan);

LowerBounds lower_bounds(const Problem& problem, const Plan& plan);

}  // namespace lowtide
