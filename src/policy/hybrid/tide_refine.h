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
  bool make_fit(std::int64_t most_work);
  // Goes on for so much work, in terms of KeptSpans::work. Calls `better` at first and for each
  // state with fewer seconds of replays than all before it.
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
  void list_replayed();
  void keep_some_again();
  void keep_what_fits();
  bool keep_again(const Replayed& replayed, bool only_if_it_fits);

  const TideStep& step_;
  KeptSpans& spans_;
  base::Random random_;
  // Values worth letting go of.
  std::vector<ValueId> candidates_;
  std::vector<Replayed> replayed_;
  // How many there were when they were listed last.
  std::size_t listed_ = 0;
  // By tick: how many ticks before it are over the budget.
  std::vector<std::int32_t> full_before_;
  // Of looking through lists, in terms of KeptSpans::work.
  std::int64_t work_ = 0;
  // By away value: when its fetch was to be issued at first.
  std::vector<trace::Tick> first_issue_;
  std::int64_t most_work_ = std::numeric_limits<std::int64_t>::max();
  // How many of the values that could go are priced.
  std::size_t priced_ = 64;
  double noise_ = 0;
  double coverage_power_ = 0.5;
};

}  // namespace lowtide::policy
