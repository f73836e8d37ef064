// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_refine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lowtide::policy {
namespace {

using trace::Tick;

// Of many values that could go, so many are priced: fewer in some moves, for variety; more while a
// seed is made to fit.
constexpr std::size_t kLeastPriced = 8;
constexpr std::size_t kMostPriced = 32;
constexpr std::size_t kPricedAtFirst = 256;
constexpr double kFree = 1e-9;
// One move keeps up to e^1.5 + 1 = 5 values again, mostly two: more take longer and succeed less
// often.
constexpr double kLogMostKept = 1.5;
// Prices count up to e^2 times more or less than they are, mostly a good deal less than that.
constexpr double kMostNoise = 2;
// How much dearer than the best so far a state may be: less and less, and after so many moves for
// each replay as much again.
constexpr double kTolerance = 0.005;
constexpr std::size_t kMovesPerReplay = 50;
// While it is being lowered it may be dearer than in the end, when what fits is kept again.
constexpr double kSlack = 1.1;
// So many moves for each pair of replays without anything better, and there is nothing to be found.
constexpr std::size_t kPatience = 10;
// What was kept again for nothing is not tried for up to so many moves.
constexpr std::uint64_t kMostMovesUseless = 50;
// By how much less counts as less.
constexpr double kBetter = 1 - 1e-9;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

TideRefiner::TideRefiner(const TideStep& step, KeptSpans& spans, std::uint64_t seed)
    : step_(step), spans_(spans), random_(seed), useless_until_(step.trace.values().size(), 0) {
  for (const AwayValue& away : spans.away()) first_issue_.push_back(away.issue);
}

double TideRefiner::noise() {
  return noise_ == 0 ? 1 : std::exp(noise_ * (2 * random_.uniform() - 1));
}

void TideRefiner::consider(std::optional<Choice>& best, ValueId value, const KeptSpans::Gap& gap,
                           std::int64_t over) {
  const double gained = gain(value, gap, over);
  const double factor = noise();
  const double most = best ? gained / best->score / factor : kNoLimit;
  const double seconds = gap.is_needed ? spans_.price(value, gap.to, most) : 0;
  const double score = gained / (seconds * factor + kFree);
  if (score > 0 && (!best || score > best->score)) best = Choice{value, gap, score};
}

double TideRefiner::gain(ValueId value, const KeptSpans::Gap& gap, std::int64_t over) const {
  const auto bytes = static_cast<double>(std::min(over, step_.costs.value(value)));
  if (coverage_power_ == 0) return bytes;
  // Half a tick more than there are, so that what covers nothing comes last and not never.
  const double covered = 0.5 + full_before_[static_cast<std::size_t>(gap.to) + 1] -
                         full_before_[static_cast<std::size_t>(gap.from) + 1];
  return bytes * (coverage_power_ == 1 ? covered : std::sqrt(covered));
}

std::optional<TideRefiner::Choice> TideRefiner::choose(Tick tick, std::int64_t over) {
  std::optional<Choice> best;
  if (coverage_power_ != 0) {
    spans_.bytes().count_above(step_.problem.budget_bytes, full_before_);
    work_ += step_.lifetimes.end() / 32;
  }
  spans_.list_kept_near(tick, kept_);
  work_ += static_cast<std::int64_t>(kept_.size()) / 4;
  for (std::size_t priced = 0; priced < priced_ && !kept_.empty();) {
    std::swap(kept_[random_.below(kept_.size())], kept_.back());
    const ValueId value = kept_.back();
    kept_.pop_back();
    if (step_.costs.value(value) < step_.small_bytes) continue;
    const std::optional<KeptSpans::Gap> gap = spans_.gap_around(value, tick);
    if (!gap) continue;
    consider(best, value, *gap, over);
    ++priced;
  }
  consider_copies(best, tick, over);
  if (best) return best;
  // What the replays of the tick use themselves, and nobody after them for a while.
  for (const Tick replayed : spans_.replays(tick)) {
    const OpId op = step_.lifetimes.op_at(replayed);
    for (const auto& uses : {step_.trace.reads(op), step_.trace.writes(op)}) {
      for (const Use& use : uses) {
        if (use.side_effect || !spans_.can_change(use.value)) continue;
        if (spans_.is_read_by_op(use.value, tick) || !spans_.is_kept_into(use.value, tick + 1)) {
          continue;
        }
        consider(best, use.value, spans_.gap_from(use.value, tick), over);
      }
    }
  }
  return best;
}

// By how much a fetch issued in that tick comes late, with the link to itself.
double TideRefiner::late_seconds(const AwayValue& away, Tick issue) const {
  const double copy = cost::read_seconds(step_.problem.machine.tier(away.tier),
                                         step_.trace.storage_of(away.value).bytes);
  return std::max(0.0, copy - (step_.clock.start(away.need) - step_.clock.start(issue)));
}

void TideRefiner::consider_copies(std::optional<Choice>& best, Tick tick, std::int64_t over) {
  const std::vector<AwayValue>& away = spans_.away();
  work_ += static_cast<std::int64_t>(away.size()) / 8;
  for (std::size_t i = 0; i < away.size(); ++i) {
    const AwayValue& a = away[i];
    const bool leaves = a.after < tick && tick <= a.left;
    const bool comes = a.issue <= tick && tick < a.need;
    if (!leaves && !comes) continue;
    const KeptSpans::Gap gap =
        leaves ? KeptSpans::Gap{tick - 1, a.left, false} : KeptSpans::Gap{a.issue - 1, tick, true};
    const double seconds = leaves ? step_.clock.end(a.left) - step_.clock.start(tick)
                                  : late_seconds(a, tick + 1) - late_seconds(a, a.issue);
    const double score = gain(a.value, gap, over) / (seconds * noise() + kFree);
    if (!best || score > best->score)
      best = Choice{a.value, gap, score, static_cast<std::int32_t>(i)};
  }
}

void TideRefiner::take(const Choice& choice) {
  if (choice.away < 0) {
    spans_.let_go(choice.value, choice.gap.from, choice.gap.to);
  } else if (choice.gap.is_needed) {
    spans_.set_issue(static_cast<std::size_t>(choice.away), choice.gap.to + 1);
  } else {
    spans_.set_left(static_cast<std::size_t>(choice.away), choice.gap.from);
  }
  spans_.settle();
}

// Has fetches that were put off start earlier again where there is room.
void TideRefiner::fetch_early_what_fits() {
  for (std::size_t i = 0; i < first_issue_.size(); ++i) {
    const AwayValue& away = spans_.away()[i];
    const std::int64_t most = step_.problem.budget_bytes - step_.costs.value(away.value);
    Tick issue = away.issue;
    while (issue > first_issue_[i] && late_seconds(away, issue) > 0 &&
           spans_.bytes().max(issue - 1, issue - 1) <= most) {
      --issue;
    }
    if (issue < away.issue) spans_.set_issue(i, issue);
  }
}

void TideRefiner::keep_needless_moves() {
  for (std::size_t i = 0; i < spans_.away().size(); ++i) {
    const AwayValue& away = spans_.away()[i];
    if (away.stays()) continue;
    const std::int64_t most = spans_.bytes().max(away.left + 1, away.issue - 1);
    if (most + step_.costs.value(away.value) <= step_.problem.budget_bytes) {
      spans_.set_left(i, away.issue - 1);
    }
  }
}

// Lets go until the step fits; whether it does, for no more than so many seconds of replays.
bool TideRefiner::lower(double most_seconds) {
  while (!fits()) {
    const std::int64_t over = spans_.bytes().max() - step_.problem.budget_bytes;
    const std::optional<Choice> choice = choose(spans_.bytes().argmax(), over);
    if (!choice) return false;
    take(*choice);
    if (!spans_.is_possible() || spans_.replay_seconds() > most_seconds) return false;
    if (work() > most_work_ || step_.problem.is_stopped()) return false;
  }
  return true;
}

bool TideRefiner::make_fit(std::int64_t most_work, double coverage_power) {
  coverage_power_ = coverage_power;
  priced_ = kPricedAtFirst;
  most_work_ = work() + most_work;
  const bool fits = lower(kNoLimit);
  most_work_ = std::numeric_limits<std::int64_t>::max();
  return fits;
}

// What is replayed, with the results that it is replayed for; or only what would fit if it were
// kept.
void TideRefiner::list_replayed(bool only_what_fits) {
  replayed_.clear();
  work_ += step_.lifetimes.end() / 16;
  for (Tick tick = 0; tick <= step_.lifetimes.end(); ++tick) {
    for (const Tick replayed : spans_.replays(tick)) {
      const OpId op = step_.lifetimes.op_at(replayed);
      ++work_;
      for (const Use& write : step_.trace.writes(op)) {
        if (write.side_effect || !spans_.can_change(write.value)) continue;
        if (spans_.is_kept_into(write.value, tick)) continue;
        if (only_what_fits && (is_useless(write.value) || !would_fit(write.value, tick))) continue;
        if (!spans_.is_used(write.value, tick)) continue;
        replayed_.push_back({write.value, tick, step_.replay_seconds(op, 0)});
      }
    }
  }
}

bool TideRefiner::would_fit(ValueId value, Tick tick) const {
  const std::int64_t most = step_.problem.budget_bytes - step_.costs.value(value);
  return !spans_.bytes().is_above(most, spans_.last_there(value, tick) + 1, tick - 1);
}

// Keeps a value from where it was there last up to a tick that replays it.
void TideRefiner::keep_again(const Replayed& replayed) {
  const auto [value, tick, worth] = replayed;
  if (spans_.is_kept_into(value, tick) || !spans_.is_used(value, tick)) return;
  spans_.keep(value, spans_.last_there(value, tick), tick);
  spans_.settle();
}

// The same if it fits and helps.
void TideRefiner::keep_if_it_helps(const Replayed& replayed) {
  if (spans_.is_kept_into(replayed.value, replayed.tick)) return;
  if (!would_fit(replayed.value, replayed.tick)) return;
  const std::size_t before = spans_.changes();
  const double seconds = spans_.replay_seconds();
  keep_again(replayed);
  if (fits() && spans_.replay_seconds() < seconds) return;
  spans_.undo_to(before);
  useless_until_[replayed.value.slot()] =
      moves_ + static_cast<std::int64_t>(random_.below(kMostMovesUseless));
}

// Some that are close to one of them: in when they are replayed, in when they are made, or
// anywhere.
void TideRefiner::keep_some_again() {
  if (!is_listed_) {
    list_replayed(false);
    all_replayed_ = replayed_;
    is_listed_ = true;
  }
  replayed_ = all_replayed_;
  if (replayed_.empty()) return;
  const auto pick = replayed_[random_.below(replayed_.size())];
  const auto how = random_.below(3);
  const auto distance = [&](const Replayed& replayed) {
    if (how == 0) return std::abs(replayed.tick - pick.tick);
    return std::abs(step_.lifetimes.of(replayed.value).born - step_.lifetimes.of(pick.value).born);
  };
  const double share_of_most = std::pow(random_.uniform(), 2);
  const auto most = static_cast<std::size_t>(std::exp(kLogMostKept * share_of_most) + 1);
  const double share = how == 2 ? static_cast<double>(most) / static_cast<double>(replayed_.size())
                                : 0.3 + 0.7 * random_.uniform();
  for (Replayed& replayed : replayed_) {
    const bool is_chosen = random_.uniform() < share;
    replayed.worth = !is_chosen ? kNoLimit : how == 2 ? 0 : distance(replayed);
  }
  const std::size_t chosen = std::min(most, replayed_.size());
  std::stable_sort(replayed_.begin(), replayed_.end(),
                   [](const Replayed& a, const Replayed& b) { return a.worth < b.worth; });
  replayed_.resize(chosen);
  while (!replayed_.empty() && replayed_.back().worth == kNoLimit) replayed_.pop_back();
  std::stable_sort(replayed_.begin(), replayed_.end(),
                   [](const Replayed& a, const Replayed& b) { return a.tick < b.tick; });
  for (const Replayed& replayed : replayed_) keep_again(replayed);
}

void TideRefiner::keep_what_fits() {
  list_replayed(true);
  for (Replayed& replayed : replayed_) replayed.worth *= noise();
  std::stable_sort(replayed_.begin(), replayed_.end(),
                   [](const Replayed& a, const Replayed& b) { return a.worth > b.worth; });
  work_ += 4 * static_cast<std::int64_t>(replayed_.size());
  for (const Replayed& replayed : replayed_) keep_if_it_helps(replayed);
  fetch_early_what_fits();
}

// Falls from the whole of it to nothing, again and again.
double TideRefiner::tolerance() {
  const std::size_t cycle = kMovesPerReplay * (all_replayed_.size() + 1);
  const std::size_t moves = static_cast<std::size_t>(moves_) % cycle;
  const double left = 1 - static_cast<double>(moves) / static_cast<double>(cycle);
  return kTolerance * left * random_.uniform();
}

void TideRefiner::refine(std::int64_t more_work, const std::function<void()>& better) {
  spans_.commit();
  keep_what_fits();
  spans_.commit();
  is_listed_ = false;
  const std::int64_t last = work() + more_work;
  double best = spans_.replay_seconds();
  better();
  // What has changed since the best, up to the state that moves begin with.
  std::size_t accepted = 0;
  std::size_t moves_since_better = 0;
  while (work() < last && spans_.replay_seconds() > 0 && !step_.problem.is_stopped()) {
    const std::size_t replays = all_replayed_.size() + 1;
    if (++moves_since_better > kPatience * replays * replays) break;
    if (!move(std::max(spans_.replay_seconds(), best * (1 + tolerance())))) {
      spans_.undo_to(accepted);
      continue;
    }
    is_listed_ = false;
    accepted = spans_.changes();
    if (spans_.replay_seconds() >= best * kBetter) continue;
    best = spans_.replay_seconds();
    moves_since_better = 0;
    accepted = 0;
    spans_.commit();
    better();
  }
  spans_.undo_to(0);
  is_listed_ = false;
}

bool TideRefiner::move(double most_seconds) {
  ++moves_;
  noise_ = kMostNoise * std::pow(random_.uniform(), 2);
  coverage_power_ = 0.5 * static_cast<double>(random_.below(3));
  priced_ = kLeastPriced + random_.below(kMostPriced - kLeastPriced + 1);
  keep_some_again();
  if (!spans_.is_possible() || !lower(kSlack * most_seconds)) return false;
  keep_what_fits();
  return spans_.replay_seconds() <= most_seconds;
}

}  // namespace lowtide::policy
