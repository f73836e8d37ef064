// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/capuchin_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

class CandidateFinder {
 public:
  CandidateFinder(const Trace& trace, const CapuchinStep& step, bool until_fits)
      : trace_(trace), step_(step), until_fits_(until_fits) {}

  std::vector<GapCandidate> find() {
    found_.reserve(trace_.values().size());
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const Storage& storage = trace_.storage_of(value);
      if (storage.pinned || step_.costs.value(value) == 0) continue;
      GapCandidate candidate;
      candidate.value = value;
      candidate.bytes = step_.costs.value(value);
      candidate.copy_bytes = storage.bytes;
      add_gaps(candidate);
      if (until_fits_) add_last_gap(candidate);
    }
    return std::move(found_);
  }

 private:
  double gap_seconds(const GapCandidate& c) const {
    return step_.clock.start(c.to) - step_.clock.end(c.from);
  }

  // As published, the longest gap is the only one.
  void add_gaps(GapCandidate candidate) {
    const auto before = static_cast<std::ptrdiff_t>(found_.size());
    const trace::Lifetime& life = step_.lifetimes.of(candidate.value);
    candidate.to = life.born;
    for (const Tick read : life.reads) {
      candidate.from = std::exchange(candidate.to, read);
      if (candidate.from >= 0 && read > candidate.from + 1) found_.push_back(candidate);
    }
    const auto first = found_.begin() + before;
    if (first == found_.end()) return;
    const auto longest = std::max_element(
        first, found_.end(), [this](auto& a, auto& b) { return gap_seconds(a) < gap_seconds(b); });
    longest->is_longest = true;
    if (until_fits_) return;
    *first = *longest;
    found_.erase(first + 1, found_.end());
  }

  void add_last_gap(GapCandidate candidate) {
    const trace::Lifetime& life = step_.lifetimes.of(candidate.value);
    const Tick last = life.last_read();
    if (life.at_end || last < 0 || life.dies <= last + 1) return;
    if (!step_.reach.can_drop(candidate.value)) return;
    candidate.from = last;
    candidate.to = life.dies;
    candidate.is_last = true;
    found_.push_back(candidate);
  }

  const Trace& trace_;
  const CapuchinStep& step_;
  bool until_fits_;
  std::vector<GapCandidate> found_;
};

double mean_bytes(const std::vector<GapCandidate>& candidates) {
  double total = 0;
  for (const GapCandidate& c : candidates) total += static_cast<double>(c.bytes);
  return candidates.empty() ? 0 : total / static_cast<double>(candidates.size());
}

double free_seconds(const GapCandidate& c, const Tier& tier, const StepClock& clock) {
  return clock.start(c.to) - cost::read_seconds(tier, c.copy_bytes) - clock.end(c.from) -
         cost::write_seconds(tier, c.copy_bytes);
}

std::vector<std::int32_t> order_swaps(const Problem& problem, const CapuchinStep& step,
                                      double ignore_below) {
  if (problem.machine.tiers.empty()) return {};
  const double smallest = ignore_below * mean_bytes(step.candidates);
  // Sorted by the key itself: looking it up in every comparison would cost a cache miss each.
  std::vector<std::pair<double, std::int32_t>> order;
  for (std::size_t i = 0; i < step.candidates.size(); ++i) {
    const GapCandidate& c = step.candidates[i];
    if (!c.is_longest || static_cast<double>(c.bytes) < smallest) continue;
    const double seconds = free_seconds(c, problem.machine.tiers[0], step.clock);
    if (seconds >= 0) order.emplace_back(-seconds, static_cast<std::int32_t>(i));
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> indices;
  indices.reserve(order.size());
  for (const auto& [lacking_seconds, i] : order) indices.push_back(i);
  return indices;
}

WrittenPlan plain_step(const Problem& problem, const CapuchinStep& step) {
  std::optional<WrittenPlan> plain = write_gaps(problem, step.lifetimes, step.costs, {}, 0);
  LT_CHECK(plain, "the plain step can be written");
  return *std::move(plain);
}

}  // namespace

CapuchinStep::CapuchinStep(const Problem& problem, const CapuchinOptions& options)
    : lifetimes(*problem.trace->lifetimes()),
      costs(*problem.trace, problem.machine),
      holds(plan::hold_sources(problem, lifetimes, costs)),
      reach(*problem.trace, lifetimes, holds),
      clock(problem),
      candidates(CandidateFinder(*problem.trace, *this, options.until_fits).find()),
      by_free_time(order_swaps(problem, *this, options.ignore_below)),
      plain(plain_step(problem, *this)) {}

}  // namespace lowtide::policy
