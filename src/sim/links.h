// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "lowtide/machine.h"
#include "lowtide/simulate.h"

namespace lowtide::sim {

// Copies between device and tiers, and work on the host's processor, by a clock of their own.
//
// Every tier has a link with two lanes, towards the tier and from it; the host's processor is one
// more lane. A lane does one thing at a time, in the order in which things become ready (those
// ready at the same time: in the order of issue). A copy is ready when its earliest start has come
// and everything it comes after has finished; it takes the link's latency and then its bytes at the
// link's speed, of which both lanes of a link keep only the share `duplex` while both of them carry
// bytes.
//
// What a value passes on its way to a further tier is several copies, one after another.
//
// The clock may be run ahead of the device, but only as far as the device will wait anyway. Nothing
// that has finished by then can change, since whatever is issued later starts later: a copy cannot
// start before the device reaches the position where the plan issues it. So:
// Requires: `earliest_start` is never before the time to which the clock was run.
class Links {
 public:
  using CopyId = std::int32_t;
  static constexpr CopyId kNone = -1;

  explicit Links(const std::vector<Tier>& tiers);

  enum class Direction : std::uint8_t { kToTier, kFromTier };
  // `after` may hold kNone.
  CopyId copy(TierId tier, Direction direction, std::int64_t bytes, double earliest_start,
              std::span<const CopyId> after);
  // Something that keeps the host's processor busy.
  CopyId host_work(double seconds, double earliest_start, std::span<const CopyId> after);

  void advance_to(double seconds);
  // Runs the clock ahead to the end of this copy.
  double finish_time(CopyId id);
  // Runs the clock ahead to the end of everything that was issued; the last one to end, or kNone.
  CopyId finish_all();

  // What has finished since the last call, in order of time.
  std::vector<CopyId> take_finished() { return std::exchange(finished_, {}); }
  std::vector<LinkUse> use() const;

  struct Span {
    double start_seconds = 0;
    double end_seconds = 0;
    // Not valid for work on the host's processor.
    TierId tier;
    bool to_tier = true;
    std::int64_t bytes = 0;
  };
  // Requires: it has finished.
  Span span_of(CopyId id) const;
  std::size_t copies() const { return jobs_.size(); }

 private:
  struct Job {
    std::uint32_t lane = 0;
    std::int32_t open_dependencies = 0;
    double fixed_seconds = 0;
    std::int64_t bytes = 0;
    // And the real one as soon as that is known.
    double earliest_start = 0;
    // In dependences_: what waits for it, -1 for none.
    std::int32_t last_dependence = -1;
  };
  // That a copy waits for another, and the one before it in the list of that other.
  struct Dependence {
    CopyId waiting = kNone;
    std::int32_t previous = -1;
  };

  struct Lane {
    enum class State : std::uint8_t { kIdle, kLatency, kBytes };
    double bytes_per_second = 1;
    double latency_seconds = 0;
    double duplex = 1;
    // The other direction of the same link; its own number if there is none.
    std::size_t partner = 0;
    State state = State::kIdle;
    CopyId running = kNone;
    double started = 0;
    // When the present state ends, if the other lane does not change what it does.
    double state_end = 0;
    // While in kBytes: what was left at `since`, and the speed from then on.
    double bytes_left = 0;
    double since = 0;
    double speed = 1;
    // By time of becoming ready, then by id.
    using Ready = std::pair<double, CopyId>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    std::int64_t bytes = 0;
    double busy_seconds = 0;

    double next_event() const;
  };

  CopyId add(Job job, std::span<const CopyId> after);
  std::size_t next_lane() const;
  // Handles the next event of a lane.
  void step(std::size_t index);
  void start(Lane& lane);
  void finish(Lane& lane);
  void set_speed(std::size_t index);

  std::vector<Lane> lanes_;
  // Grows by one for every copy; moving all of them whenever it grows would cost more than they do.
  std::deque<Job> jobs_;
  std::vector<Dependence> dependences_;
  // By copy: when it finished, negative until then. Apart, for it is asked long after the rest.
  std::vector<double> finish_seconds_;
  std::vector<CopyId> finished_;
  CopyId last_finished_ = kNone;
  std::size_t unfinished_ = 0;
  double now_ = 0;
};

}  // namespace lowtide::sim
