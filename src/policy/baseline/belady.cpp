// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Moves to the first tier what is not needed for longest, as Belady's rule for pages has it: with
// all next uses known, what is used again soonest stays. It works from the other end: everything
// leaves after each use, then the values stay over their shortest gaps for as long as the budget
// has room, and what still leaves is brought back ahead of its use where there is room for that.
//
// Limits: it looks at how long a gap is and at nothing else. The rule is optimal for pages of one
// size that cost the same; storages are neither, and it knows nothing of replays.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/copy_lane.h"
#include "policy/hybrid/step_clock.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"
#include "solve/range_max.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// What is on its way counts on the link's lane as far as this many stretches back.
constexpr std::size_t kStretchesSearched = 32;
// A copy that cannot begin as early as it should begins this much later, and so on, down to none.
constexpr double kShorterLead = 0.5;
constexpr int kLeadsTried = 4;

// A value is not used between two ticks. `need` after the end: it is not used again in this step.
struct Gap {
  ValueId value;
  Tick after = 0;
  Tick need = 0;
};

// Gaps that are decided together: what outlives the step must end where it starts.
struct Choice {
  std::vector<Gap> gaps;
  double seconds = 0;
  bool stays = false;
};

class BeladyPlanner {
 public:
  explicit BeladyPlanner(const Problem& problem)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        moves_(storages_to_move(problem)) {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) add_gaps(make_id<ValueId>(i));
    for (auto& [storage, choice] : around_) choices_.push_back(std::move(choice));
    for (Choice& choice : choices_) choice.seconds = length(choice);
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.seconds < b.seconds; });
  }

  PlanOutcome plan() {
    std::optional<WrittenPlan> least = write();
    LT_CHECK(least, "everything that was moved can be brought back");
    if (least->peak_bytes > problem_.budget_bytes) {
      return Refusal{.reason = base::concat("with everything moved away the step still takes ",
                                            base::format_bytes(least->peak_bytes)),
                     .smallest_budget_bytes = least->peak_bytes};
    }
    profile_.emplace(least->tick_bytes);
    for (Choice& choice : choices_) choice.stays = fits(choice);
    fetch_ahead();
    std::optional<WrittenPlan> written = write();
    LT_CHECK(written && written->peak_bytes <= problem_.budget_bytes,
             "what stays was counted, but the step takes ", written ? written->peak_bytes : 0);
    return finish_plan(problem_, "belady", *std::move(written));
  }

 private:
  Tick never() const { return lifetimes_.end() + 1; }

  void add_gaps(ValueId value) {
    const Storage& storage = trace_.storage_of(value);
    if (!moves_[trace_.value(value).storage.slot()]) return;
    const trace::Lifetime& life = lifetimes_.of(value);
    const bool goes_round = storage.at_start && storage.at_end;
    Tick last_use = life.born;
    for (const Tick read : life.reads) {
      const bool is_first = last_use < 0 && goes_round;
      add_gap({value, last_use, read}, is_first);
      last_use = read;
    }
    if (life.dies > last_use) add_gap({value, last_use, never()}, life.at_end && goes_round);
  }

  void add_gap(const Gap& gap, bool goes_round) {
    if (goes_round) {
      around_[trace_.value(gap.value).storage.slot()].gaps.push_back(gap);
    } else {
      choices_.push_back({.gaps = {gap}});
    }
  }

  double length(const Choice& choice) const {
    double seconds = 0;
    for (const Gap& gap : choice.gaps) {
      seconds += clock_.start(std::min(gap.need, lifetimes_.end())) - clock_.end(gap.after);
    }
    return seconds;
  }

  void occupy(Tick first, Tick last, std::int64_t bytes) {
    if (first > last) return;
    profile_->add(static_cast<std::size_t>(first), static_cast<std::size_t>(last), bytes);
  }

  bool fits(const Choice& choice) {
    const auto occupy_all = [&](int sign) {
      for (const Gap& gap : choice.gaps) {
        occupy(gap.after + 1, std::min(gap.need - 1, lifetimes_.end()),
               sign * costs_.value(gap.value));
      }
    };
    occupy_all(1);
    if (profile_->max() <= problem_.budget_bytes) return true;
    occupy_all(-1);
    return false;
  }

  // In the order in which the link gets to them, from the last one back.
  void fetch_ahead() {
    std::vector<Gap> fetched;
    for (const Choice& choice : choices_) {
      if (choice.stays) continue;
      for (const Gap& gap : choice.gaps) {
        if (gap.need <= lifetimes_.end()) fetched.push_back(gap);
      }
    }
    std::stable_sort(fetched.begin(), fetched.end(),
                     [](const Gap& a, const Gap& b) { return a.need > b.need; });
    CopyLane lane;
    for (const Gap& gap : fetched) fetch_ahead(gap, lane);
  }

  void fetch_ahead(const Gap& gap, CopyLane& lane) {
    const std::int64_t bytes = trace_.storage_of(gap.value).bytes;
    const double seconds = cost::read_seconds(problem_.machine.tiers.front(), bytes);
    const double need = clock_.start(gap.need);
    const auto slot = lane.latest_nearby(need, seconds, kStretchesSearched);
    if (!slot) return;
    double lead = need - slot->start;
    for (int i = 0; i < kLeadsTried; ++i, lead *= kShorterLead) {
      const Tick issue = std::clamp(clock_.last_started_by(need - lead), gap.after + 1, gap.need);
      if (issue == gap.need) return;
      occupy(issue, gap.need - 1, costs_.value(gap.value));
      if (profile_->max() <= problem_.budget_bytes) {
        if (i == 0) lane.take(*slot);
        issues_[{gap.value.slot(), gap.need}] = issue;
        return;
      }
      occupy(issue, gap.need - 1, -costs_.value(gap.value));
    }
  }

  std::optional<WrittenPlan> write() const {
    GapDecisions decisions;
    for (const Choice& choice : choices_) {
      if (choice.stays) continue;
      for (const Gap& gap : choice.gaps) {
        if (gap.after < 0) {
          decisions.starts.push_back({trace_.value(gap.value).storage, TierId{0}});
        }
        const auto early = issues_.find({gap.value.slot(), gap.need});
        const Tick issue = early == issues_.end() ? gap.need : early->second;
        decisions.swaps.push_back({gap.value, TierId{0}, gap.after, issue, gap.need});
      }
    }
    return write_gaps(problem_, lifetimes_, costs_, decisions, 0);
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  // By storage: whether it may.
  const std::vector<bool> moves_;
  std::vector<Choice> choices_;
  // Of storages that are there before and after the step.
  std::map<std::size_t, Choice> around_;
  // The fullest moment of each tick, by what stays so far.
  std::optional<solve::RangeMax> profile_;
  // When copies back begin, by value and use; those that are not there, at the use.
  std::map<std::pair<std::size_t, Tick>, Tick> issues_;
};

class Belady final : public Policy {
 public:
  PlanOutcome plan(const Problem& problem) const override { return BeladyPlanner(problem).plan(); }
};

}  // namespace

std::unique_ptr<Policy> make_belady(const PolicyOptions& options) {
  OptionReader("belady", options).finish();
  return std::make_unique<Belady>();
}

}  // namespace lowtide::policy
