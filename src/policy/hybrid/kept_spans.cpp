// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/kept_spans.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace lowtide::policy {

using trace::Lifetime;
using trace::Tick;

namespace {

constexpr double kOutOfReach = std::numeric_limits<double>::infinity();
constexpr std::int32_t kMade = 1;
constexpr std::int32_t kGone = 2;

void insert_tick(std::vector<Tick>& ticks, Tick tick) {
  ticks.insert(std::lower_bound(ticks.begin(), ticks.end(), tick), tick);
}

void erase_tick(std::vector<Tick>& ticks, Tick tick) {
  ticks.erase(std::lower_bound(ticks.begin(), ticks.end(), tick));
}

}  // namespace

KeptSpans::KeptSpans(const TideStep& step, double host_share, const std::vector<AwayValue>& away)
    : step_(step),
      can_change_(step.trace.values().size(), false),
      away_(away),
      away_of_(step.trace.values().size(), -1),
      hold_until_(step.trace.values().size(), -1),
      spans_(step.trace.values().size()),
      touches_(step.trace.values().size()),
      replayed_in_(step.trace.ops().size()),
      replays_(slot(step.lifetimes.end()) + 1),
      starts_(replays_.size()),
      extra_bytes_(replays_.size(), 0),
      is_impossible_(replays_.size(), false),
      is_dirty_(replays_.size(), false),
      bytes_(replays_.size()),
      kept_blocks_(replays_.size(), step.trace.values().size()),
      seen_(step.trace.ops().size(), 0),
      last_reader_(step.trace.values().size()),
      within_(step.trace.values().size()),
      touched_(step.trace.values().size(), 0) {
  seconds_.reserve(step.trace.ops().size());
  for (Tick tick = 0; tick < step.lifetimes.end(); ++tick) {
    seconds_.push_back(step.replay_seconds(step.lifetimes.op_at(tick), host_share));
  }
  add_plain_spans(away);
  for (Tick tick = 0; tick <= step.lifetimes.end(); ++tick) rebuild(tick);
  suspects_.clear();
}

void KeptSpans::add_plain_spans(const std::vector<AwayValue>& away) {
  for (std::size_t i = 0; i < away.size(); ++i) {
    away_[i].left = std::clamp(away[i].left, away[i].after, away[i].issue - 1);
    away_of_[away[i].value.slot()] = static_cast<std::int32_t>(i);
  }
  for (const plan::ExtendedLife& hold : step_.holds) {
    if (away_of_[hold.value.slot()] < 0) hold_until_[hold.value.slot()] = hold.until;
  }
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const Lifetime& life = step_.lifetimes.of(value);
    can_change_[i] = away_of_[i] < 0 && step_.reach.can_drop(value) && bytes_of(value) > 0;
    if (away_of_[i] < 0) {
      if (life.born < life.dies) add_span(value, life.born, life.dies);
      continue;
    }
    const AwayValue& a = away_[static_cast<std::size_t>(away_of_[i])];
    // Two spans even if they meet, or the first is empty: each end moves by itself.
    spans_[i] = {Span{life.born, a.left}, Span{a.issue - 1, life.dies}};
    bytes_.add(life.born + 1, a.left, bytes_of(value));
    bytes_.add(a.issue, life.dies, bytes_of(value));
  }
}

bool KeptSpans::is_away(ValueId value, Tick tick) const {
  const std::int32_t index = away_of_[value.slot()];
  if (index < 0) return false;
  const AwayValue& away = away_[static_cast<std::size_t>(index)];
  return !away.stays() && away.after < tick && tick < away.need;
}

bool KeptSpans::is_kept_into(ValueId value, Tick tick) const {
  for (const Span& span : spans_[value.slot()]) {
    if (tick <= span.to) return span.from < tick;
  }
  return false;
}

bool KeptSpans::is_within_reach(ValueId value, Tick tick) const {
  return is_kept_into(value, tick) || tick <= hold_until_[value.slot()];
}

bool KeptSpans::starts_by_replay(ValueId value, Tick tick) const {
  return can_change_[value.slot()] && step_.lifetimes.of(value).born != tick;
}

bool KeptSpans::is_read_by_op(ValueId value, Tick tick) const {
  const Lifetime& life = step_.lifetimes.of(value);
  if (tick == step_.lifetimes.end()) return life.at_end;
  return std::binary_search(life.reads.begin(), life.reads.end(), tick);
}

bool KeptSpans::is_used(ValueId value, Tick tick) const {
  const std::vector<Tick>& touches = touches_[value.slot()];
  return is_read_by_op(value, tick) || std::binary_search(touches.begin(), touches.end(), tick);
}

Tick KeptSpans::next_use(ValueId value, Tick from) const {
  const Lifetime& life = step_.lifetimes.of(value);
  Tick next = step_.next_read(value, from);
  if (life.at_end && from > step_.lifetimes.end()) next = step_.never();
  const std::vector<Tick>& touches = touches_[value.slot()];
  const auto touch = std::lower_bound(touches.begin(), touches.end(), from);
  return touch == touches.end() ? next : std::min(next, *touch);
}

Tick KeptSpans::last_use_before(ValueId value, Tick tick) const {
  const auto last = [tick](auto begin, auto end) {
    const auto next = std::lower_bound(begin, end, tick);
    return next == begin ? Tick{-1} : *std::prev(next);
  };
  const Lifetime& life = step_.lifetimes.of(value);
  const std::vector<Tick>& touches = touches_[value.slot()];
  return std::max(last(life.reads.begin(), life.reads.end()), last(touches.begin(), touches.end()));
}

bool KeptSpans::goes_within(ValueId value, Tick tick) const {
  const bool may_go = can_change(value) || tick > step_.lifetimes.of(value).dies;
  return may_go && !is_read_by_op(value, tick) && !is_kept_into(value, tick + 1);
}

std::optional<KeptSpans::Gap> KeptSpans::gap_around(ValueId value, Tick tick) const {
  for (const Span& span : spans_[value.slot()]) {
    if (tick > span.to) continue;
    if (span.from >= tick) return std::nullopt;
    const Tick next = next_use(value, tick);
    if (next == tick) return std::nullopt;
    return Gap{std::max(span.from, last_use_before(value, tick)), std::min(span.to, next),
               next <= span.to};
  }
  return std::nullopt;
}

KeptSpans::Gap KeptSpans::gap_from(ValueId value, Tick tick) const {
  const Tick next = next_use(value, tick + 1);
  for (const Span& span : spans_[value.slot()]) {
    if (tick < span.to) return Gap{tick, std::min(span.to, next), next <= span.to};
  }
  LT_CHECK(false, "the value is kept out of the tick");
}

Tick KeptSpans::last_there(ValueId value, Tick tick) const {
  Tick last = step_.lifetimes.of(value).born;
  for (const Span& span : spans_[value.slot()]) {
    if (span.to < tick) last = std::max(last, span.to);
  }
  const OpId producer = step_.trace.value(value).producer;
  const std::vector<Tick>& made = replayed_in_[producer.slot()];
  const auto next = std::lower_bound(made.begin(), made.end(), tick);
  return next == made.begin() ? last : std::max(last, *std::prev(next));
}

double KeptSpans::price(ValueId value, Tick tick, double most_seconds) {
  ++stamp_;
  const std::vector<Tick>& there = replays_[slot(tick)];
  found_.clear();
  double seconds = 0;
  const auto add = [&](ValueId wanted) {
    const OpId producer = step_.trace.value(wanted).producer;
    if (!producer.valid() || !step_.trace.is_replayable(producer)) return false;
    const Tick made = step_.lifetimes.tick_of(producer);
    if (seen_[slot(made)] == stamp_) return true;
    seen_[slot(made)] = stamp_;
    if (std::binary_search(there.begin(), there.end(), made)) return true;
    found_.push_back(made);
    seconds += seconds_of(made);
    return true;
  };
  if (!add(value)) return kOutOfReach;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (seconds > most_seconds) break;
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(found_[i]))) {
      if (read.side_effect) continue;
      if (is_away(read.value, tick)) return kOutOfReach;
      if (!is_within_reach(read.value, tick) && !add(read.value)) return kOutOfReach;
    }
  }
  work_ += static_cast<std::int64_t>(found_.size()) + 1;
  return seconds > most_seconds ? kOutOfReach : seconds;
}

void KeptSpans::let_go(ValueId value, Tick from, Tick to) {
  log_.push_back({Change::Kind::kLetGo, value, from, to});
  remove_span(value, from, to);
}

void KeptSpans::keep(ValueId value, Tick from, Tick to) {
  log_.push_back({Change::Kind::kKept, value, from, to});
  add_span(value, from, to);
}

void KeptSpans::set_left(std::size_t away, Tick left) {
  AwayValue& a = away_[away];
  log_.push_back({Change::Kind::kLeft, a.value, static_cast<Tick>(away), a.left});
  change_left(a, left);
}

void KeptSpans::set_issue(std::size_t away, Tick issue) {
  AwayValue& a = away_[away];
  log_.push_back({Change::Kind::kIssue, a.value, static_cast<Tick>(away), a.issue});
  change_issue(a, issue);
}

void KeptSpans::change_left(AwayValue& away, Tick left) {
  bytes_.add(std::min(left, away.left) + 1, std::max(left, away.left),
             left > away.left ? bytes_of(away.value) : -bytes_of(away.value));
  spans_[away.value.slot()].front().to = left;
  away.left = left;
}

void KeptSpans::change_issue(AwayValue& away, Tick issue) {
  bytes_.add(std::min(issue, away.issue), std::max(issue, away.issue) - 1,
             issue < away.issue ? bytes_of(away.value) : -bytes_of(away.value));
  spans_[away.value.slot()].back().from = issue - 1;
  away.issue = issue;
}

void KeptSpans::remove_span(ValueId value, Tick from, Tick to) {
  std::vector<Span>& spans = spans_[value.slot()];
  auto span = spans.begin();
  while (span->to < to) ++span;
  LT_CHECK(span->from <= from, "only what is kept can be let go of");
  const Span whole = *span;
  if (whole.from == from && starts_by_replay(value, from)) {
    std::vector<ValueId>& starts = starts_[slot(from)];
    starts.erase(std::find(starts.begin(), starts.end(), value));
  }
  if (to < whole.to) starts_[slot(to)].push_back(value);
  if (from > whole.from && to < whole.to) {
    span->to = from;
    spans.insert(std::next(span), Span{to, whole.to});
  } else if (from > whole.from) {
    span->to = from;
  } else if (to < whole.to) {
    span->from = to;
  } else {
    spans.erase(span);
  }
  bytes_.add(from + 1, to, -bytes_of(value));
  note_removed(value, from, to);
  mark_dirty(from);
  mark_dirty(to);
}

void KeptSpans::note_removed(ValueId value, Tick from, Tick to) {
  kept_blocks_.remove(value, from + 1, to);
  const Tick first = kept_blocks_.block_begin(from + 1);
  const Tick last = kept_blocks_.block_end(to);
  for (const Span& span : spans_[value.slot()]) {
    kept_blocks_.add(value, std::max(span.from + 1, first), std::min(span.to, last));
  }
}

void KeptSpans::add_span(ValueId value, Tick from, Tick to) {
  std::vector<Span>& spans = spans_[value.slot()];
  auto next = spans.begin();
  while (next != spans.end() && next->from < to) ++next;
  const bool joins_next = next != spans.end() && next->from == to;
  if (joins_next && starts_by_replay(value, to)) {
    std::vector<ValueId>& starts = starts_[slot(to)];
    starts.erase(std::find(starts.begin(), starts.end(), value));
  }
  const bool joins_last = next != spans.begin() && std::prev(next)->to == from;
  if (joins_last) {
    std::prev(next)->to = joins_next ? next->to : to;
    if (joins_next) spans.erase(next);
  } else {
    if (starts_by_replay(value, from)) starts_[slot(from)].push_back(value);
    if (joins_next) {
      next->from = from;
    } else {
      spans.insert(next, Span{from, to});
    }
  }
  bytes_.add(from + 1, to, bytes_of(value));
  if (can_change(value)) kept_blocks_.add(value, from + 1, to);
  mark_dirty(from);
  mark_dirty(to);
}

void KeptSpans::mark_dirty(Tick tick) {
  if (tick < 0 || is_dirty_[slot(tick)]) return;
  is_dirty_[slot(tick)] = true;
  dirty_.push_back(tick);
}

void KeptSpans::rebuild_dirty() {
  // To rebuild one may make others dirty.
  while (!dirty_.empty()) {
    const Tick tick = dirty_.back();
    dirty_.pop_back();
    is_dirty_[slot(tick)] = false;
    rebuild(tick);
  }
}

void KeptSpans::settle() {
  rebuild_dirty();
  while (!suspects_.empty()) {
    const auto [value, tick] = suspects_.back();
    suspects_.pop_back();
    tidy(value, tick);
    rebuild_dirty();
  }
}

void KeptSpans::trim() {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (!can_change_[i]) continue;
    for (const Span& span : spans_[i]) {
      suspects_.emplace_back(value, span.to);
      suspects_.emplace_back(value, span.from);
    }
  }
  settle();
}

void KeptSpans::undo_to(std::size_t changes) {
  while (log_.size() > changes) {
    const Change change = log_.back();
    log_.pop_back();
    const auto index = static_cast<std::size_t>(change.from);
    switch (change.kind) {
      case Change::Kind::kKept:
        remove_span(change.value, change.from, change.to);
        break;
      case Change::Kind::kLetGo:
        add_span(change.value, change.from, change.to);
        break;
      case Change::Kind::kLeft:
        change_left(away_[index], change.to);
        break;
      case Change::Kind::kIssue:
        change_issue(away_[index], change.to);
        break;
    }
  }
  rebuild_dirty();
  suspects_.clear();
}

void KeptSpans::tidy(ValueId value, Tick tick) {
  if (!can_change_[value.slot()] || is_used(value, tick)) return;
  for (const Span& span : spans_[value.slot()]) {
    if (span.from == tick && starts_by_replay(value, tick)) {
      let_go(value, tick, std::min(span.to, next_use(value, tick)));
      return;
    }
    if (span.to == tick && tick != step_.lifetimes.of(value).dies) {
      const Tick last = std::max(span.from, last_use_before(value, tick));
      let_go(value, last, tick);
      // What is left may itself begin for nobody.
      suspects_.emplace_back(value, last);
      return;
    }
  }
}

bool KeptSpans::want(ValueId value, Tick tick) {
  if (is_away(value, tick)) return false;
  if (is_within_reach(value, tick)) return true;
  const OpId producer = step_.trace.value(value).producer;
  if (!producer.valid() || !step_.trace.is_replayable(producer)) return false;
  const Tick made = step_.lifetimes.tick_of(producer);
  if (seen_[slot(made)] == stamp_) return true;
  seen_[slot(made)] = stamp_;
  found_.push_back(made);
  return true;
}

// Fills found_ with what has to be replayed in a tick.
bool KeptSpans::find_replays(Tick tick) {
  ++stamp_;
  found_.clear();
  bool all = true;
  if (tick < step_.lifetimes.end()) {
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(tick))) {
      all = want(read.value, tick) && all;
    }
  } else {
    for (const ValueId value : step_.lifetimes.deaths(tick)) all = want(value, tick) && all;
  }
  for (const ValueId value : starts_[slot(tick)]) all = want(value, tick) && all;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(found_[i]))) {
      if (!read.side_effect) all = want(read.value, tick) && all;
    }
  }
  std::sort(found_.begin(), found_.end());
  return all;
}

void KeptSpans::rebuild(Tick tick) {
  const bool all = find_replays(tick);
  if (all == is_impossible_[slot(tick)]) {
    impossible_ticks_ += all ? -1 : 1;
    is_impossible_[slot(tick)] = !all;
  }
  work_ += 4 + 4 * static_cast<std::int64_t>(found_.size());
  if (found_ != replays_[slot(tick)]) {
    note_touches(tick);
    note_replays(tick);
  }
  const std::int64_t extra = most_extra_bytes(tick);
  bytes_.add(tick, tick, extra - extra_bytes_[slot(tick)]);
  extra_bytes_[slot(tick)] = extra;
}

// What the replays of a tick read, now and before.
void KeptSpans::note_touches(Tick tick) {
  old_touched_.clear();
  ++stamp_;
  for (const Tick replayed : replays_[slot(tick)]) {
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(replayed))) {
      if (read.side_effect || touched_[read.value.slot()] == stamp_) continue;
      touched_[read.value.slot()] = stamp_;
      old_touched_.push_back(read.value);
    }
  }
  const std::int32_t before = stamp_++;
  for (const Tick replayed : found_) {
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(replayed))) {
      std::int32_t& touched = touched_[read.value.slot()];
      if (read.side_effect || touched == stamp_) continue;
      if (touched != before) {
        insert_tick(touches_[read.value.slot()], tick);
        adjust_hold(read.value);
      }
      touched = stamp_;
    }
  }
  for (const ValueId value : old_touched_) {
    if (touched_[value.slot()] == stamp_) continue;
    erase_tick(touches_[value.slot()], tick);
    adjust_hold(value);
    suspects_.emplace_back(value, tick);
  }
}

// A source that may be held is, for as long as replays read it.
void KeptSpans::adjust_hold(ValueId value) {
  if (hold_until_[value.slot()] < 0 || spans_[value.slot()].empty()) return;
  const Tick dies = step_.lifetimes.of(value).dies;
  const std::vector<Tick>& touches = touches_[value.slot()];
  Span& span = spans_[value.slot()].back();
  const Tick to = touches.empty() ? dies : std::max(dies, touches.back());
  if (to == span.to) return;
  const std::int64_t bytes = to > span.to ? bytes_of(value) : -bytes_of(value);
  bytes_.add(std::min(to, span.to) + 1, std::max(to, span.to), bytes);
  mark_dirty(dies);
  mark_dirty(span.to);
  mark_dirty(to);
  span.to = to;
}

void KeptSpans::note_replays(Tick tick) {
  for (const Tick replayed : replays_[slot(tick)]) {
    erase_tick(replayed_in_[step_.lifetimes.op_at(replayed).slot()], tick);
    replay_seconds_ -= seconds_of(replayed);
  }
  for (const Tick replayed : found_) {
    insert_tick(replayed_in_[step_.lifetimes.op_at(replayed).slot()], tick);
    replay_seconds_ += seconds_of(replayed);
  }
  replays_[slot(tick)] = found_;
}

bool KeptSpans::is_present(ValueId value, Tick tick) const {
  const Stamped& within = within_[value.slot()];
  return within.stamp == stamp_ ? within.number == kMade : is_kept_into(value, tick);
}

// The most bytes in a tick beyond those of values kept into it.
std::int64_t KeptSpans::most_extra_bytes(Tick tick) {
  ++stamp_;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(found_[i]))) {
      if (read.side_effect) continue;
      last_reader_[read.value.slot()] = {stamp_, static_cast<std::int32_t>(i)};
    }
  }
  const auto last_reader = [this](ValueId value) {
    const Stamped& last = last_reader_[value.slot()];
    return last.stamp == stamp_ ? last.number : -1;
  };
  std::int64_t used = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const OpId op = step_.lifetimes.op_at(found_[i]);
    std::int64_t results = step_.costs.workspace(op);
    for (const Use& write : step_.trace.writes(op)) results += bytes_of(write.value);
    most = std::max(most, used + results);
    for (const Use& write : step_.trace.writes(op)) {
      if (write.side_effect || !can_change(write.value) || is_present(write.value, tick)) continue;
      if (last_reader(write.value) <= index && goes_within(write.value, tick)) continue;
      within_[write.value.slot()] = {stamp_, kMade};
      used += bytes_of(write.value);
    }
    for (const Use& read : step_.trace.reads(op)) {
      if (read.side_effect || last_reader(read.value) != index) continue;
      if (!goes_within(read.value, tick) || !is_present(read.value, tick)) continue;
      within_[read.value.slot()] = {stamp_, kGone};
      used -= bytes_of(read.value);
    }
  }
  if (tick == step_.lifetimes.end()) return std::max(most, used);
  return std::max(most, used + op_extra_bytes(tick));
}

// Results and workspace of the op itself; a result takes over the place of what it overwrites.
std::int64_t KeptSpans::op_extra_bytes(Tick tick) const {
  const OpId op = step_.lifetimes.op_at(tick);
  std::int64_t bytes = step_.costs.workspace(op);
  for (const Use& write : step_.trace.writes(op)) {
    const Value& value = step_.trace.value(write.value);
    if (value.version > 0) {
      const ValueId old =
          step_.trace.versions(value.storage)[static_cast<std::size_t>(value.version) - 1];
      if (is_present(old, tick) && !is_kept_into(old, tick + 1)) continue;
    }
    bytes += bytes_of(write.value);
  }
  return bytes;
}

}  // namespace lowtide::policy
