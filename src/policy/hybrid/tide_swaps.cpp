// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_swaps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/hybrid/copy_lane.h"
#include "solve/range_max.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// A copy is planned to end this part of the step ahead of its need: real copies and real ops take
// more or less than they were measured to.
constexpr double kAheadShare = 0.004;
// A swap that covers less than this share of the over-full part of the step is not worth its link
// time.
constexpr double kLeastShare = 0.12;

// What a replay may ask for before the gap ends has to come back early, or stay.
constexpr double kWantedEarlyShare = 0.3;

// A lane full of copies with small gaps between them would be searched from end to end.
constexpr std::size_t kStretchesSearched = 32;

struct Candidate {
  ValueId value;
  Tick from = 0;
  Tick to = 0;
  // Over-full seconds that the gap spans, each weighed by how far over the budget it is.
  double full_seconds = 0;
  double worth = 0;
};

class Chooser {
 public:
  Chooser(const TideStep& step, const SwapWishes& wishes)
      : step_(step),
        wishes_(wishes),
        tier_(step.problem.machine.tiers.front()),
        host_left_(tier_.capacity_bytes),
        profile_(step.plain_bytes),
        ahead_seconds_(kAheadShare * step.clock.end(step.lifetimes.end())) {
    full_before_.reserve(step.plain_bytes.size() + 1);
    full_before_.push_back(0);
    for (std::size_t i = 0; i < step.plain_bytes.size(); ++i) {
      const auto tick = static_cast<Tick>(i);
      const bool is_full = step.plain_bytes[i] > step.problem.budget_bytes;
      const double seconds =
          tick < step.lifetimes.end() ? step.clock.start(tick + 1) - step.clock.start(tick) : 0;
      full_before_.push_back(full_before_.back() + (is_full ? seconds : 0));
    }
  }

  std::vector<SwapDecision> choose() {
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      add_longest_gap(make_id<ValueId>(i));
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
    for (const Candidate& c : candidates_) {
      if (profile_.max() <= step_.problem.budget_bytes) break;
      take(c);
    }
    return std::move(swaps_);
  }

 private:
  // Weighed over-full seconds in the ticks first..last.
  double full_seconds(Tick first, Tick last) const {
    if (first > last) return 0;
    return full_before_[static_cast<std::size_t>(last) + 1] -
           full_before_[static_cast<std::size_t>(first)];
  }

  void add_longest_gap(ValueId value) {
    const Storage& storage = step_.trace.storage_of(value);
    if (storage.pinned || step_.costs.value(value) < step_.small_bytes || storage.bytes == 0)
      return;
    if (!wishes_.wanted_by.empty() && wishes_.wanted_by[value.slot()] < 0) return;
    const trace::Lifetime& life = step_.lifetimes.of(value);
    Candidate best{.value = value};
    // A source leaves after the first op at the earliest.
    Tick from = std::max(life.born, 0);
    for (const Tick read : life.reads) {
      const Tick to = wanted(value, from, read);
      const double seconds = full_seconds(from + 1, to - 1);
      if (seconds > best.full_seconds) {
        best.from = from;
        best.to = to;
        best.full_seconds = seconds;
      }
      from = std::max(from, read);
    }
    if (best.full_seconds <= 0) return;
    best.worth = worth(best);
    candidates_.push_back(best);
  }

  Tick wanted(ValueId value, Tick from, Tick read) const {
    if (wishes_.wanted_by.empty()) return read;
    const Tick early = wishes_.wanted_by[value.slot()];
    return early > from ? std::min(early, read) : read;
  }

  // Seconds a byte that a replay would take, for as much of the over-full time as the gap spans.
  double worth(const Candidate& c) const {
    const OpId producer = step_.trace.value(c.value).producer;
    const double price =
        wishes_.prices.empty() ? 1 : static_cast<double>(wishes_.prices[c.value.slot()]);
    const double seconds =
        step_.reach.can_drop(c.value)
            ? step_.replay_seconds(producer, 0)
            : static_cast<double>(step_.costs.value(c.value)) * wishes_.source_price;
    const double share = may_be_wanted_early(c) ? kWantedEarlyShare : 1;
    return share * price * seconds / static_cast<double>(step_.costs.value(c.value)) *
           c.full_seconds;
  }

  // Whether a replay could ask for it within the gap: something that was made from it may be
  // dropped and is read before the gap ends.
  bool may_be_wanted_early(const Candidate& c) const {
    for (const Tick reader : step_.lifetimes.of(c.value).reads) {
      if (reader > c.from) break;
      for (const Use& write : step_.trace.writes(step_.lifetimes.op_at(reader))) {
        if (write.side_effect || !step_.reach.can_drop(write.value)) continue;
        if (step_.next_read(write.value, c.from + 1) < c.to) return true;
      }
    }
    return false;
  }

  void take(const Candidate& c) {
    const std::int64_t bytes = step_.trace.storage_of(c.value).bytes;
    if (bytes > host_left_) return;
    const double out_seconds = cost::write_seconds(tier_, bytes) / wishes_.link_share;
    const double in_seconds = cost::read_seconds(tier_, bytes) / wishes_.link_share;
    const CopyLane::Slot out = out_lane_.earliest(step_.clock.end(c.from), out_seconds);
    const std::optional<CopyLane::Slot> in = in_lane_.latest_nearby(
        step_.clock.start(c.to) - ahead_seconds_, in_seconds, kStretchesSearched);
    if (!in || in->start < out.end) return;
    const Tick gone_from = step_.clock.first_starting_from(out.end);
    const Tick issue = std::clamp(step_.clock.last_started_by(in->start), c.from + 1, c.to);
    if (full_seconds(gone_from, issue - 1) < kLeastShare * full_before_.back()) return;
    out_lane_.take(out);
    in_lane_.take(*in);
    host_left_ -= bytes;
    profile_.add(static_cast<std::size_t>(gone_from), static_cast<std::size_t>(issue - 1),
                 -step_.costs.value(c.value));
    swaps_.push_back({c.value, TierId{0}, c.from, issue, c.to});
  }

  const TideStep& step_;
  const SwapWishes& wishes_;
  const Tier& tier_;
  std::int64_t host_left_;
  solve::RangeMax profile_;
  double ahead_seconds_;
  // By tick: weighed over-full seconds of all before it.
  std::vector<double> full_before_;
  std::vector<Candidate> candidates_;
  CopyLane out_lane_;
  CopyLane in_lane_;
  std::vector<SwapDecision> swaps_;
};

}  // namespace

std::vector<SwapDecision> choose_swaps(const TideStep& step, const SwapWishes& wishes) {
  if (step.problem.machine.tiers.empty() || wishes.link_share <= 0) return {};
  return Chooser(step, wishes).choose();
}

}  // namespace lowtide::policy
