// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/op_timer.h"

#include <algorithm>

namespace lowtide::run {
namespace {

constexpr int kEnoughSamples = 3;
constexpr int kThoroughSamples = 16;
// Shapes may vary without end; the table may not.
constexpr std::size_t kMostKinds = std::size_t{1} << 16;
constexpr int kNotMeasured = OpTimer::Timing{}.watch;

}  // namespace

OpTimer::Timing OpTimer::start(std::uint64_t signature, bool thoroughly) {
  Timing timing;
  {
    const int enough = thoroughly ? kThoroughSamples : kEnoughSamples;
    const std::lock_guard lock(mutex_);
    const auto found = costs_.find(signature);
    if (found != costs_.end()) timing.known_seconds = found->second.seconds;
    if (found != costs_.end() && found->second.samples >= enough) return timing;
  }
  timing.watch = device_.start_timing();
  return timing;
}

double OpTimer::stop(const Timing& timing, std::uint64_t signature, std::int64_t bytes) {
  // The usual case, once everything was measured.
  if (timing.watch == kNotMeasured) return timing.known_seconds;
  device_.stop_timing(timing.watch);
  const std::lock_guard lock(mutex_);
  pending_.push_back({timing.watch, signature});
  read_finished();
  const auto found = costs_.find(signature);
  const bool is_known = found != costs_.end() && found->second.samples > 0;
  return is_known ? found->second.seconds : device_.memory_seconds(bytes);
}

void OpTimer::note_host(std::uint64_t signature, double seconds) {
  const std::lock_guard lock(mutex_);
  double& least = costs_[signature].host_seconds;
  least = least == 0 ? seconds : std::min(least, seconds);
}

std::optional<double> OpTimer::host_seconds(std::uint64_t signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = costs_.find(signature);
  if (found == costs_.end() || found->second.host_seconds == 0) return std::nullopt;
  return found->second.host_seconds;
}

std::optional<double> OpTimer::seconds(std::uint64_t signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = costs_.find(signature);
  if (found == costs_.end() || found->second.samples == 0) return std::nullopt;
  return found->second.seconds;
}

void OpTimer::read_finished() {
  // A few at a time: one op must not pay for all.
  for (int i = 0; i < 4 && !pending_.empty(); ++i) {
    const std::optional<double> seconds = device_.read_timing(pending_.front().timing);
    if (!seconds) return;
    if (costs_.size() >= kMostKinds) costs_.clear();
    Cost& cost = costs_[pending_.front().signature];
    // The first run of a kernel also pays for loading it, and any run may be disturbed: the least
    // is nearest to the truth.
    cost.seconds = cost.samples == 0 ? *seconds : std::min(cost.seconds, *seconds);
    ++cost.samples;
    pending_.pop_front();
  }
}

}  // namespace lowtide::run
