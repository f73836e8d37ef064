// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/hybrid/kept_blocks.h"
#include "policy/hybrid/tick_bytes.h"
#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

// A value that lies in a tier for a while.
struct AwayValue {
  ValueId value;
  TierId tier;
  // Moved after this tick, and its bytes are there until this one.
  trace::Tick after = 0;
  trace::Tick left = 0;
  // Its bytes are there again from this tick on, and it can be read from that one on.
  trace::Tick issue = 0;
  trace::Tick need = 0;

  // Nothing is gained by moving what has hardly left when it is to come back.
  bool stays() const { return left >= issue - 1; }
};

// A plan as the spans of ticks through which each value is kept on the device. What is replayed
// follows from them: each tick replays, once and in order of execution, whatever its op reads and
// is not there, and what that takes. Spans can be cut and mended, and all that follows (replays,
// their seconds, the bytes of each tick) is known at once, and undone as easily.
class KeptSpans {
 public:
  // The value is there in tick `from` and is kept into the ticks from+1 .. to.
  struct Span {
    trace::Tick from = 0;
    trace::Tick to = 0;
  };
  // A part of a span without a use of the value inside, around some tick.
  struct Gap {
    trace::Tick from = 0;
    trace::Tick to = 0;
    // Whether something reads the value in the tick `to`.
    bool is_needed = false;
  };

  // The plain step. `host_share`: see TideStep::replay_seconds.
  KeptSpans(const TideStep& step, double host_share, const std::vector<AwayValue>& away);

  // Whether the value may be let go of at all.
  bool can_change(ValueId value) const { return can_change_[value.slot()]; }

  // Requires: it is kept through all of from+1 .. to, and used at `from` and nowhere between.
  void let_go(ValueId value, trace::Tick from, trace::Tick to);
  // Requires: it is there in the tick `from`, and not kept into any of from+1 .. to.
  void keep(ValueId value, trace::Tick from, trace::Tick to);
  // Has the bytes of a value on its way out go after an earlier tick, or takes the bytes of one on
  // its way in from a later tick on, or an earlier one: whoever needs the room, or the value, waits
  // if the copy takes longer.
  void set_left(std::size_t away, trace::Tick left);
  void set_issue(std::size_t away, trace::Tick issue);
  // Works out what follows from the changes since. A span that begins with a replay for nobody in
  // that tick begins later; one for nobody at all goes.
  void settle();

  // Lets go of what is kept up to no use.
  void trim();

  std::size_t changes() const { return log_.size(); }
  // Back to where there had been so many changes.
  void undo_to(std::size_t changes);
  // Changes so far cannot be undone any more.
  void commit() { log_.clear(); }

  // Whether everything that is read can be brought back.
  bool is_possible() const { return impossible_ticks_ == 0; }
  double replay_seconds() const { return replay_seconds_; }
  const TickBytes& bytes() const { return bytes_; }
  // Steps of work so far: what bounds a search without a clock.
  std::int64_t work() const { return work_; }

  const std::vector<AwayValue>& away() const { return away_; }
  const std::vector<Span>& spans(ValueId value) const { return spans_[value.slot()]; }
  bool is_kept_into(ValueId value, trace::Tick tick) const;
  // Ticks of the ops that are replayed before the op of this tick, in order.
  const std::vector<trace::Tick>& replays(trace::Tick tick) const {
    return replays_[static_cast<std::size_t>(tick)];
  }
  // Fills `values` with those that may be let go of and are kept into this tick or one close to it.
  void list_kept_near(trace::Tick tick, std::vector<ValueId>& values) const {
    kept_blocks_.list(tick, values);
  }
  // Whether the op of this tick reads it, or the end of the step wants it.
  bool is_read_by_op(ValueId value, trace::Tick tick) const;
  // The same, or a replay of this tick reads it.
  bool is_used(ValueId value, trace::Tick tick) const;
  // Whether it goes as soon as the replays of the tick are through with it.
  bool goes_within(ValueId value, trace::Tick tick) const;
  // Around a tick into which it is kept and in which it is not used; nothing if there is none.
  std::optional<Gap> gap_around(ValueId value, trace::Tick tick) const;
  // The gap that begins with a tick in which it is used and out of which it is kept.
  Gap gap_from(ValueId value, trace::Tick tick) const;
  // The last tick before this one in which the value is there, before which it is not kept.
  trace::Tick last_there(ValueId value, trace::Tick tick) const;
  // Seconds of replays that a tick needs beyond those it has, if the value is not kept into it; too
  // many to count if it cannot be had, or if they are more than `most_seconds`.
  double price(ValueId value, trace::Tick tick, double most_seconds);

 private:
  struct Change {
    enum class Kind : std::uint8_t { kKept, kLetGo, kLeft, kIssue };
    Kind kind;
    ValueId value;
    // The gap; or the index of an away value, and the tick that it had.
    trace::Tick from;
    trace::Tick to;
  };
  // Numbers that are up to date only if their stamp is the latest.
  struct Stamped {
    std::int32_t stamp = 0;
    std::int32_t number = 0;
  };

  static std::size_t slot(trace::Tick tick) { return static_cast<std::size_t>(tick); }
  std::int64_t bytes_of(ValueId value) const { return step_.costs.value(value); }
  double seconds_of(trace::Tick replayed) const { return seconds_[slot(replayed)]; }
  bool is_away(ValueId value, trace::Tick tick) const;
  // Kept into the tick, or a source that can be held until then.
  bool is_within_reach(ValueId value, trace::Tick tick) const;
  bool starts_by_replay(ValueId value, trace::Tick tick) const;

  void add_plain_spans(const std::vector<AwayValue>& away);
  void remove_span(ValueId value, trace::Tick from, trace::Tick to);
  void add_span(ValueId value, trace::Tick from, trace::Tick to);
  void change_left(AwayValue& away, trace::Tick left);
  void change_issue(AwayValue& away, trace::Tick issue);
  void note_removed(ValueId value, trace::Tick from, trace::Tick to);
  void mark_dirty(trace::Tick tick);
  void rebuild_dirty();
  void rebuild(trace::Tick tick);
  bool find_replays(trace::Tick tick);
  bool want(ValueId value, trace::Tick tick);
  void note_replays(trace::Tick tick);
  void note_touches(trace::Tick tick);
  void adjust_hold(ValueId value);
  std::int64_t most_extra_bytes(trace::Tick tick);
  std::int64_t op_extra_bytes(trace::Tick tick) const;
  bool is_present(ValueId value, trace::Tick tick) const;
  void tidy(ValueId value, trace::Tick tick);
  trace::Tick next_use(ValueId value, trace::Tick from) const;
  trace::Tick last_use_before(ValueId value, trace::Tick tick) const;

  const TideStep& step_;
  std::vector<double> seconds_;
  std::vector<bool> can_change_;
  std::vector<AwayValue> away_;
  // By value: index into away_, or -1.
  std::vector<std::int32_t> away_of_;
  // By value: until when a source may be held past its natural death, or -1.
  std::vector<trace::Tick> hold_until_;
  std::vector<std::vector<Span>> spans_;
  // By value: ticks whose replays read it, in order.
  std::vector<std::vector<trace::Tick>> touches_;
  // By op: ticks that replay it, in order.
  std::vector<std::vector<trace::Tick>> replayed_in_;
  // By tick: what is replayed, values whose span starts with a replay there, bytes beyond those of
  // values kept into the tick, and whether all it needs can be had.
  std::vector<std::vector<trace::Tick>> replays_;
  std::vector<std::vector<ValueId>> starts_;
  std::vector<std::int64_t> extra_bytes_;
  std::vector<bool> is_impossible_;
  std::vector<bool> is_dirty_;
  std::vector<trace::Tick> dirty_;
  TickBytes bytes_;
  // Of values that can change.
  KeptBlocks kept_blocks_;
  double replay_seconds_ = 0;
  std::int64_t impossible_ticks_ = 0;
  std::int64_t work_ = 0;
  std::vector<Change> log_;
  // Values whose use in a tick is gone.
  std::vector<std::pair<ValueId, trace::Tick>> suspects_;

  // While one tick is worked out.
  std::vector<trace::Tick> found_;
  std::vector<std::int32_t> seen_;
  // By value: index of the last replay of the tick that reads it; whether a replay of the tick made
  // it (1) or it has gone within the tick (2).
  std::vector<Stamped> last_reader_;
  std::vector<Stamped> within_;
  std::vector<ValueId> old_touched_;
  std::vector<std::int32_t> touched_;
  std::int32_t stamp_ = 0;
};

}  // namespace lowtide::policy
