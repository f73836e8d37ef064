// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/spans_plan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "plan/schedule.h"

namespace lowtide::policy {
namespace {

using trace::Lifetime;
using trace::Tick;

// Writes the actions of one tick after another.
class SpansWriter {
 public:
  SpansWriter(const TideStep& step, const KeptSpans& spans, std::vector<Action>& actions)
      : step_(step), spans_(spans), actions_(actions) {}

  void write_holds() {
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const Tick dies = step_.lifetimes.of(value).dies;
      for (const KeptSpans::Span& span : spans_.spans(value)) {
        if (span.to <= dies) continue;
        actions_.emplace_back(Hold{value, step_.lifetimes.op_at(span.to),
                                   step_.lifetimes.op_at(std::max(span.from, dies))});
      }
    }
  }

  void write_tick(Tick tick) {
    tick_ = tick;
    here_ = step_.lifetimes.op_at(tick);
    dropped_.clear();
    write_prelude();
    if (tick == step_.lifetimes.end()) return;
    for (const Use& read : step_.trace.reads(here_)) let_go_after(read.value);
    for (const Use& write : step_.trace.writes(here_)) let_go_after(write.value);
  }

  // Spans that end with a tick in which nothing uses the value.
  void write_unused_end(ValueId value, Tick tick) {
    tick_ = tick;
    here_ = step_.lifetimes.op_at(tick);
    dropped_.clear();
    let_go_after(value);
  }

 private:
  // Whether it stays to the end of the tick unless it is dropped.
  bool would_stay(ValueId value) const {
    const Lifetime& life = step_.lifetimes.of(value);
    return (life.born < tick_ && tick_ <= life.dies) || spans_.is_kept_into(value, tick_);
  }

  void write_prelude() {
    const std::vector<Tick>& replays = spans_.replays(tick_);
    std::unordered_map<ValueId, Tick> last_reader;
    for (const Tick replayed : replays) {
      for (const Use& read : step_.trace.reads(step_.lifetimes.op_at(replayed))) {
        if (!read.side_effect) last_reader[read.value] = replayed;
      }
    }
    std::unordered_set<ValueId> gone;
    const auto drop = [&](ValueId value) {
      if (!spans_.goes_within(value, tick_) || !would_stay(value) || !gone.insert(value).second)
        return;
      actions_.emplace_back(Drop{value, here_, Drop::Side::kBefore});
    };
    for (const Tick replayed : replays) {
      const OpId op = step_.lifetimes.op_at(replayed);
      actions_.emplace_back(Run{op, here_});
      for (const Use& write : step_.trace.writes(op)) {
        const auto last = last_reader.find(write.value);
        const bool is_read_later = last != last_reader.end() && last->second > replayed;
        if (!write.side_effect && !is_read_later && !spans_.is_kept_into(write.value, tick_)) {
          drop(write.value);
        }
      }
      for (const Use& read : step_.trace.reads(op)) {
        if (!read.side_effect && last_reader[read.value] == replayed) drop(read.value);
      }
    }
  }

  void let_go_after(ValueId value) {
    if (!spans_.can_change(value) || spans_.is_kept_into(value, tick_ + 1)) return;
    if (tick_ >= step_.lifetimes.of(value).dies) return;
    // An op may read a value twice.
    if (std::find(dropped_.begin(), dropped_.end(), value) != dropped_.end()) return;
    dropped_.push_back(value);
    actions_.emplace_back(Drop{value, here_, Drop::Side::kAfter});
  }

  const TideStep& step_;
  const KeptSpans& spans_;
  std::vector<Action>& actions_;
  Tick tick_ = 0;
  OpId here_;
  // After the op of the tick.
  std::vector<ValueId> dropped_;
};

// Walks through a plan and notes from when to when each value is there.
class Follower {
 public:
  Follower(const TideStep& step, const Plan& plan)
      : step_(step), plan_(plan), schedule_(step.trace, plan), spans_(step.trace.values().size()) {}

  std::vector<std::vector<KeptSpans::Span>> follow() {
    since_.assign(spans_.size(), kNowhere);
    for (tick_ = 0; tick_ <= step_.lifetimes.end(); ++tick_) {
      follow_prelude();
      if (tick_ == step_.lifetimes.end()) break;
      for (const Use& write : step_.trace.writes(step_.lifetimes.op_at(tick_))) {
        appear(write.value);
      }
      follow_release();
    }
    for (std::size_t i = 0; i < since_.size(); ++i) vanish(make_id<ValueId>(i));
    return std::move(spans_);
  }

 private:
  static constexpr Tick kNowhere = -2;

  void appear(ValueId value) {
    Tick& since = since_[value.slot()];
    if (since == kNowhere) since = tick_;
  }

  void vanish(ValueId value) {
    Tick& since = since_[value.slot()];
    if (since == kNowhere) return;
    const Tick to = std::min(tick_, step_.lifetimes.end());
    std::vector<KeptSpans::Span>& spans = spans_[value.slot()];
    if (since < to && !spans.empty() && spans.back().to == since) {
      spans.back().to = to;
    } else if (since < to) {
      spans.push_back({since, to});
    }
    since = kNowhere;
  }

  bool is_wanted(ValueId value) const {
    const Lifetime& life = step_.lifetimes.of(value);
    return (life.born < tick_ && tick_ <= life.dies) || schedule_.held_until(value, tick_) >= 0;
  }

  void follow_prelude() {
    for (const std::int32_t index : schedule_.at(tick_).prelude) {
      const Action& action = plan_.actions[static_cast<std::size_t>(index)];
      if (const auto* drop = std::get_if<Drop>(&action)) vanish(drop->value);
      if (const auto* run = std::get_if<Run>(&action)) {
        for (const Use& write : step_.trace.writes(run->op)) {
          if (!write.side_effect && is_wanted(write.value)) appear(write.value);
        }
      }
    }
  }

  void follow_release() {
    for (const ValueId value : step_.lifetimes.deaths(tick_)) {
      if (schedule_.held_until(value, tick_) <= tick_) vanish(value);
    }
    for (const ValueId value : schedule_.holds_ending(tick_)) vanish(value);
    for (const std::int32_t index : schedule_.at(tick_).releases) {
      const Action& action = plan_.actions[static_cast<std::size_t>(index)];
      if (const auto* drop = std::get_if<Drop>(&action)) vanish(drop->value);
    }
  }

  const TideStep& step_;
  const Plan& plan_;
  plan::Schedule schedule_;
  Tick tick_ = 0;
  std::vector<Tick> since_;
  std::vector<std::vector<KeptSpans::Span>> spans_;
};

void take_over(ValueId value, const std::vector<KeptSpans::Span>& kept, KeptSpans& spans) {
  const std::vector<KeptSpans::Span> plain = spans.spans(value);
  for (const KeptSpans::Span& span : plain) spans.let_go(value, span.from, span.to);
  for (const KeptSpans::Span& span : kept) spans.keep(value, span.from, span.to);
}

}  // namespace

std::vector<Action> actions_of(const TideStep& step, const KeptSpans& spans) {
  std::vector<Action> actions;
  for (const AwayValue& away : spans.away()) {
    if (away.stays()) continue;
    const auto op_at = [&](Tick tick) { return step.lifetimes.op_at(tick); };
    actions.emplace_back(Move{away.value, away.tier, op_at(away.after), ""});
    actions.emplace_back(Fetch{away.value, op_at(away.issue), op_at(away.need)});
  }
  SpansWriter writer(step, spans, actions);
  writer.write_holds();
  for (Tick tick = 0; tick <= step.lifetimes.end(); ++tick) writer.write_tick(tick);
  for (std::size_t i = 0; i < step.trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    for (const KeptSpans::Span& span : spans.spans(value)) {
      if (!spans.is_used(value, span.to)) writer.write_unused_end(value, span.to);
    }
  }
  return actions;
}

void follow_plan(const TideStep& step, const Plan& plan, KeptSpans& spans) {
  const std::vector<std::vector<KeptSpans::Span>> kept = Follower(step, plan).follow();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (spans.can_change(value)) take_over(value, kept[i], spans);
  }
  spans.settle();
  spans.trim();
}

void follow_spans(const TideStep& step, const KeptSpans& others, KeptSpans& spans) {
  for (std::size_t i = 0; i < step.trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (others.can_change(value) && spans.can_change(value)) {
      take_over(value, others.spans(value), spans);
    }
  }
  spans.settle();
  spans.trim();
}

}  // namespace lowtide::policy
