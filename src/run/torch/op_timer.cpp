// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/op_timer.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace lowtide::run {
namespace {

constexpr int kEnoughSamples = 3;
// Of the device's, when it is waited for.
constexpr std::chrono::microseconds kPollInterval{100};
// Shapes may vary without end; the table may not.
constexpr std::size_t kMostKinds = std::size_t{1} << 16;
constexpr int kNotMeasured = OpTimer::Timing{}.watch;

}  // namespace

OpTimer::Timing OpTimer::start(std::uint64_t signature, bool thoroughly) {
  Timing timing;
  {
    const std::lock_guard lock(mutex_);
    const auto found = costs_.find(signature);
    if (found != costs_.end()) timing.known_seconds = found->second.seconds;
    const bool is_known = found != costs_.end() && found->second.samples >= kEnoughSamples;
    if (is_known && !thoroughly) return timing;
  }
  timing.watch = device_.start_timing();
  return timing;
}

double OpTimer::stop(const Timing& timing, std::uint64_t signature, std::int64_t bytes,
                     Ending ending) {
  // The usual case, once everything was measured.
  if (timing.watch == kNotMeasured) return timing.known_seconds;
  device_.stop_timing(timing.watch);
  ending.is_own |= device_.is_paced();
  const std::lock_guard lock(mutex_);
  pending_.push_back({timing.watch, signature, ending});
  // A few at a time: one op must not pay for all.
  for (int i = 0; i < 4 && !pending_.empty() && read_oldest(); ++i) {
  }
  const auto found = costs_.find(signature);
  const bool is_known = found != costs_.end() && found->second.samples > 0;
  return is_known ? found->second.seconds : device_.memory_seconds(bytes);
}

void OpTimer::note_host(std::uint64_t signature, double seconds) {
  const std::lock_guard lock(mutex_);
  double& least = costs_[signature].host_seconds;
  least = least == 0 ? seconds : std::min(least, seconds);
}

void OpTimer::note_before(std::uint64_t signature, double seconds) {
  if (!device_.is_its_own_host()) return;
  const std::lock_guard lock(mutex_);
  costs_[signature].before.add(seconds);
}

std::optional<double> OpTimer::host_seconds(std::uint64_t signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = costs_.find(signature);
  if (found == costs_.end() || found->second.host_seconds == 0) return std::nullopt;
  if (device_.is_its_own_host()) return std::nullopt;
  return found->second.host_seconds;
}

std::optional<double> OpTimer::own_seconds(std::uint64_t signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = costs_.find(signature);
  if (found == costs_.end() || !found->second.is_own) return std::nullopt;
  return found->second.seconds + found->second.before.typical();
}

void OpTimer::finish() {
  std::unique_lock lock(mutex_);
  while (!pending_.empty()) {
    if (read_oldest()) continue;
    lock.unlock();
    std::this_thread::sleep_for(kPollInterval);
    lock.lock();
  }
}

bool OpTimer::read_oldest() {
  const std::optional<double> seconds = device_.read_timing(pending_.front().timing);
  if (!seconds) return false;
  if (costs_.size() >= kMostKinds) costs_.clear();
  const Pending& read = pending_.front();
  add_sample(costs_[read.signature], *seconds, read.ending);
  pending_.pop_front();
  return true;
}

// The first run of a kernel also pays for loading it, and any run may be disturbed: the least is
// nearest to the truth. Where the device had to wait for the host, it is no truth at all. A host
// that computes by itself takes longer in one run than in the next, where the kernel has to be
// asked for memory: there the least would be too little.
void OpTimer::add_sample(Cost& cost, double seconds, const Ending& ending) const {
  if (cost.is_own && !ending.is_own) return;
  const bool is_first = cost.samples == 0 || ending.is_own != cost.is_own;
  cost.samples = is_first ? 1 : cost.samples + 1;
  cost.is_own = ending.is_own;
  if (!device_.is_its_own_host()) {
    cost.seconds = is_first ? seconds : std::min(cost.seconds, seconds);
  } else if (cost.own.empty() || !ending.made_room) {
    cost.own.add(seconds);
    cost.seconds = cost.own.typical();
  }
}

}  // namespace lowtide::run
