// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/op_timer.h"

#include <algorithm>

namespace lowtide::run {
namespace {

constexpr int kEnoughSamples = 3;
// Shapes may vary without end; the table may not.
constexpr std::size_t kMostKinds = std::size_t{1} << 16;
constexpr int kNotMeasured = -1;

}  // namespace

int OpTimer::start(std::uint64_t signature) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = costs_.find(signature);
    if (found != costs_.end() && found->second.samples >= kEnoughSamples) {
      return kNotMeasured;
    }
  }
  return device_.start_timing();
}

double OpTimer::stop(int timing, std::uint64_t signature, std::int64_t bytes) {
  if (timing != kNotMeasured) device_.stop_timing(timing);
  const std::lock_guard lock(mutex_);
  if (timing != kNotMeasured) pending_.push_back({timing, signature});
  if (!pending_.empty()) read_finished();
  const auto found = costs_.find(signature);
  return found != costs_.end() ? found->second.seconds : device_.memory_seconds(bytes);
}

std::optional<double> OpTimer::seconds(std::uint64_t signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = costs_.find(signature);
  if (found == costs_.end()) return std::nullopt;
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
