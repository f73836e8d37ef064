// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "path_plan.h"

#include <bit>
#include <map>
#include <set>

namespace lowtide::oracle {
namespace {

class PathWriter {
 public:
  PathWriter(const Trace& trace, const NaturalLives& lives) : trace_(trace), lives_(lives) {}

  std::vector<Action> write(State state, const std::vector<Step>& path) {
    for (const Step& step : path) {
      switch (step.kind) {
        case Step::Kind::kDrop:
          drop(state.there & ~step.to.there, state.tick);
          break;
        case Step::Kind::kReplay:
          actions_.emplace_back(Run{OpId{step.which}, position(state.tick)});
          drop(unkept(state, step), state.tick);
          break;
        case Step::Kind::kGoOn:
          drop(unkept(state, step), step.to.tick);
          note_survivors(step.to.there, state.tick);
          break;
      }
      state = step.to;
      note_strangers(state);
    }
    add_holds();
    return actions_;
  }

 private:
  OpId position(int tick) const {
    return tick == lives_.end() ? trace_.end() : OpId{lives_.op_at(tick)};
  }

  // What was there or came with the step, is not there after it, and would be there in the tick of
  // the next state if nothing were done: it exists naturally and no result took its bytes.
  ValueSet unkept(const State& from, const Step& step) const {
    ValueSet gone = from.there;
    for (const Use& use : trace_.op(OpId{step.which}).writes) {
      const bool yields = step.kind == Step::Kind::kGoOn || !use.side_effect;
      if (yields) gone |= ValueSet{1} << static_cast<unsigned>(use.value.index);
    }
    gone &= ~step.to.there;
    ValueSet result = 0;
    for (; gone != 0; gone &= gone - 1) {
      if (lives_.exists(ValueId{std::countr_zero(gone)}, step.to.tick)) result |= gone & -gone;
    }
    return result;
  }

  void drop(ValueSet values, int tick) {
    for (; values != 0; values &= values - 1) {
      actions_.emplace_back(
          Drop{ValueId{std::countr_zero(values)}, position(tick), Drop::Side::kBefore});
    }
  }

  // What is still there after the last tick of its natural life, or a later one.
  void note_survivors(ValueSet values, int tick) {
    for (; values != 0; values &= values - 1) {
      const ValueId value{std::countr_zero(values)};
      if (lives_.dies(value) <= tick) held_[value].insert(tick);
    }
  }

  // What is there in the prelude though its natural life is over.
  void note_strangers(const State& state) {
    for (ValueSet values = state.there; values != 0; values &= values - 1) {
      const ValueId value{std::countr_zero(values)};
      if (lives_.dies(value) < state.tick) held_[value].insert(state.tick);
    }
  }

  // One Hold for each stretch of ticks.
  void add_holds() {
    for (const auto& [value, ticks] : held_) {
      for (auto tick = ticks.begin(); tick != ticks.end();) {
        const int first = *tick;
        int last = first;
        while (tick != ticks.end() && *tick <= last + 1) last = *tick++;
        actions_.emplace_back(Hold{value, position(last), position(first)});
      }
    }
  }

  const Trace& trace_;
  const NaturalLives& lives_;
  std::vector<Action> actions_;
  // By value: the ticks that a Hold must cover.
  std::map<ValueId, std::set<int>> held_;
};

}  // namespace

Plan plan_of_path(const Trace& trace, const NaturalLives& lives, const State& start,
                  const std::vector<Step>& path) {
  Plan plan;
  plan.policy = "brute_force";
  plan.trace_digest = digest(trace);
  plan.actions = PathWriter(trace, lives).write(start, path);
  return plan;
}

}  // namespace lowtide::oracle
