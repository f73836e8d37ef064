// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/links.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace lowtide::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Two lanes a tier in the order of the tiers, then the host's processor.
std::size_t lane_of(TierId tier, Links::Direction direction) {
  return 2 * tier.slot() + (direction == Links::Direction::kToTier ? 0 : 1);
}

}  // namespace

Links::Links(const std::vector<Tier>& tiers) : lanes_(2 * tiers.size() + 1) {
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    const Tier& tier = tiers[t];
    LT_REQUIRE(tier.write_bytes_per_second > 0 && tier.read_bytes_per_second > 0 && tier.duplex > 0,
               "the link to tier ", tier.name, " has no speed");
    lanes_[2 * t].bytes_per_second = tier.write_bytes_per_second;
    lanes_[2 * t + 1].bytes_per_second = tier.read_bytes_per_second;
    lanes_[2 * t].duplex = lanes_[2 * t + 1].duplex = tier.duplex;
    lanes_[2 * t].partner = 2 * t + 1;
    lanes_[2 * t + 1].partner = 2 * t;
    lanes_[2 * t].latency_seconds = lanes_[2 * t + 1].latency_seconds = tier.latency_seconds;
  }
  lanes_.back().partner = lanes_.size() - 1;
}

Links::CopyId Links::copy(TierId tier, Direction direction, std::int64_t bytes,
                          double earliest_start, std::span<const CopyId> after) {
  Job job;
  job.lane = static_cast<std::uint32_t>(lane_of(tier, direction));
  job.fixed_seconds = lanes_[job.lane].latency_seconds;
  job.bytes = bytes;
  job.earliest_start = earliest_start;
  return add(std::move(job), after);
}

Links::CopyId Links::host_work(double seconds, double earliest_start,
                               std::span<const CopyId> after) {
  Job job;
  job.lane = static_cast<std::uint32_t>(lanes_.size() - 1);
  job.fixed_seconds = seconds;
  job.earliest_start = earliest_start;
  return add(std::move(job), after);
}

Links::CopyId Links::add(Job job, std::span<const CopyId> after) {
  LT_CHECK(job.earliest_start >= now_, "a copy is to start at ", job.earliest_start,
           " s, but the links have run to ", now_, " s");
  const auto id = static_cast<CopyId>(jobs_.size());
  for (const CopyId other : after) {
    if (other == kNone || finish_seconds_[static_cast<std::size_t>(other)] >= 0) continue;
    std::int32_t& last = jobs_[static_cast<std::size_t>(other)].last_dependence;
    dependences_.push_back({id, last});
    last = static_cast<std::int32_t>(dependences_.size() - 1);
    ++job.open_dependencies;
  }
  if (job.open_dependencies == 0) lanes_[job.lane].ready.emplace(job.earliest_start, id);
  jobs_.push_back(std::move(job));
  finish_seconds_.push_back(-1);
  ++unfinished_;
  return id;
}

double Links::Lane::next_event() const {
  if (state != State::kIdle) return state_end;
  if (ready.empty()) return kNever;
  return ready.top().first;
}

std::size_t Links::next_lane() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    if (lanes_[i].next_event() < lanes_[best].next_event()) best = i;
  }
  return best;
}

void Links::advance_to(double seconds) {
  for (std::size_t lane = next_lane(); lanes_[lane].next_event() <= seconds; lane = next_lane()) {
    step(lane);
  }
  now_ = std::max(now_, seconds);
}

double Links::finish_time(CopyId id) {
  const double& seconds = finish_seconds_[static_cast<std::size_t>(id)];
  while (seconds < 0) step(next_lane());
  return seconds;
}

Links::CopyId Links::finish_all() {
  while (unfinished_ > 0) step(next_lane());
  return last_finished_;
}

void Links::step(std::size_t index) {
  Lane& lane = lanes_[index];
  // A lane that was busy finds things that became ready in the meantime.
  now_ = std::max(now_, lane.next_event());
  switch (lane.state) {
    case Lane::State::kIdle:
      start(lane);
      break;
    case Lane::State::kLatency:
      lane.state = Lane::State::kBytes;
      lane.bytes_left = static_cast<double>(jobs_[static_cast<std::size_t>(lane.running)].bytes);
      lane.since = now_;
      set_speed(index);
      set_speed(lane.partner);
      break;
    case Lane::State::kBytes:
      finish(lane);
      set_speed(lane.partner);
      break;
  }
}

void Links::start(Lane& lane) {
  lane.running = lane.ready.top().second;
  lane.ready.pop();
  lane.state = Lane::State::kLatency;
  lane.started = now_;
  Job& job = jobs_[static_cast<std::size_t>(lane.running)];
  job.earliest_start = now_;
  lane.state_end = now_ + job.fixed_seconds;
}

void Links::finish(Lane& lane) {
  const CopyId id = std::exchange(lane.running, kNone);
  lane.state = Lane::State::kIdle;
  lane.busy_seconds += now_ - lane.started;
  const Job& job = jobs_[static_cast<std::size_t>(id)];
  lane.bytes += job.bytes;
  finish_seconds_[static_cast<std::size_t>(id)] = now_;
  finished_.push_back(id);
  last_finished_ = id;
  --unfinished_;
  for (std::int32_t i = job.last_dependence; i >= 0;) {
    const auto [waiting, previous] = dependences_[static_cast<std::size_t>(i)];
    i = previous;
    Job& dependent = jobs_[static_cast<std::size_t>(waiting)];
    if (--dependent.open_dependencies > 0) continue;
    lanes_[dependent.lane].ready.emplace(std::max(now_, dependent.earliest_start), waiting);
  }
}

// Only at a change of speed is the end computed anew: rounding errors do not grow with the number
// of events elsewhere.
void Links::set_speed(std::size_t index) {
  Lane& lane = lanes_[index];
  if (lane.state != Lane::State::kBytes) return;
  const bool is_shared = lane.partner != index && lanes_[lane.partner].state == Lane::State::kBytes;
  const double speed = lane.bytes_per_second * (is_shared ? lane.duplex : 1);
  if (speed == lane.speed && lane.since != now_) return;
  lane.bytes_left = std::max(0.0, lane.bytes_left - lane.speed * (now_ - lane.since));
  lane.since = now_;
  lane.speed = speed;
  lane.state_end = now_ + lane.bytes_left / speed;
}

Links::Span Links::span_of(CopyId id) const {
  const Job& job = jobs_[static_cast<std::size_t>(id)];
  const bool is_host_work = job.lane + 1 == lanes_.size();
  return {.start_seconds = job.earliest_start,
          .end_seconds = finish_seconds_[static_cast<std::size_t>(id)],
          .tier = is_host_work ? TierId{} : make_id<TierId>(job.lane / 2),
          .to_tier = job.lane % 2 == 0,
          .bytes = job.bytes};
}

std::vector<LinkUse> Links::use() const {
  std::vector<LinkUse> uses;
  for (std::size_t i = 0; i + 1 < lanes_.size(); ++i) {
    uses.push_back({.tier = make_id<TierId>(i / 2),
                    .to_tier = i % 2 == 0,
                    .bytes = lanes_[i].bytes,
                    .busy_seconds = lanes_[i].busy_seconds});
  }
  return uses;
}

}  // namespace lowtide::sim
