// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.h"
#include "policy/hybrid/kept_spans.h"

namespace lowtide::policy {

// Makes the replays of a plan cheaper by a large neighbourhood search: some of what is let go of
// is kept again, by place or by what it is, the step is made to fit once more by letting go of what
// costs least for its bytes, with some noise, and what fits then is kept. What is not cheaper is
// undone.
class TideRefiner {
 public:
  TideRefiner(const TideStep& step, KeptSpans& spans, std::uint64_t seed);

  // Lets go of values until the step fits. Whether it does, after no more than so much work.
  // `coverage_power`: how much it counts that a value's gap covers many ticks over the budget.
  bool make_fit(std::int64_t most_work, double coverage_power);
  // Goes on for so much work, in terms of KeptSpans::work. Calls `better` at first and for each
  // state with fewer seconds of replays than all before it; the last of these is what it leaves.
  // Requires: the step fits.
  void refine(std::int64_t more_work, const std::function<void()>& better);
  // Has values stay that are moved although there is room for them. Meant for a plan's last form:
  // it is not known which of them will be missed.
  void keep_needless_moves();

 private:
  struct Replayed {
    ValueId value;
    trace::Tick tick = 0;
    double worth = 0;
  };
  struct Choice {
    // What is let go of and where; or, with an index of an away value, what its ticks become.
    ValueId value;
    KeptSpans::Gap gap;
    double score = 0;
    std::int32_t away = -1;
  };

  bool fits() const { return spans_.bytes().max() <= step_.problem.budget_bytes; }
  std::int64_t work() const { return work_ + spans_.work(); }
  double noise();
  double tolerance();
  bool lower(double most_seconds);
  // One move; whether the step fits again for no more than so many seconds of replays.
  bool move(double most_seconds);
  std::optional<Choice> choose(trace::Tick tick, std::int64_t over);
  // Copies on their way in or out whose bytes are there in the tick.
  void consider_copies(std::optional<Choice>& best, trace::Tick tick, std::int64_t over);
  void take(const Choice& choice);
  void fetch_early_what_fits();
  double late_seconds(const AwayValue& away, trace::Tick issue) const;
  void consider(std::optional<Choice>& best, ValueId value, const KeptSpans::Gap& gap,
                std::int64_t over);
  double gain(ValueId value, const KeptSpans::Gap& gap, std::int64_t over) const;
  void list_replayed(bool only_what_fits);
  bool would_fit(ValueId value, trace::Tick tick) const;
  // Whether it was of no use to keep it, not long ago.
  bool is_useless(ValueId value) const { return moves_ < useless_until_[value.slot()]; }
  void keep_some_again();
  void keep_what_fits();
  void keep_again(const Replayed& replayed);
  void keep_if_it_helps(const Replayed& replayed);

  const TideStep& step_;
  KeptSpans& spans_;
  base::Random random_;
  // While something to let go of is chosen: what is kept near the tick.
  std::vector<ValueId> kept_;
  std::vector<Replayed> replayed_;
  // All of the state that moves begin with, if they have been listed.
  std::vector<Replayed> all_replayed_;
  bool is_listed_ = false;
  std::int64_t moves_ = 0;
  // By value: before which move it is not tried again whether keeping it helps.
  std::vector<std::int64_t> useless_until_;
  // By tick: how many ticks before it are over the budget.
  std::vector<std::int32_t> full_before_;
  // Of looking through lists, in terms of KeptSpans::work.
  std::int64_t work_ = 0;
  // By away value: when its fetch was to be issued at first.
  std::vector<trace::Tick> first_issue_;
  std::int64_t most_work_ = std::numeric_limits<std::int64_t>::max();
  // How many of the values that could go are priced.
  std::size_t priced_ = 0;
  double noise_ = 0;
  double coverage_power_ = 0.5;
};

}  // namespace lowtide::policy
