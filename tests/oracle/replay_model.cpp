// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "replay_model.h"

#include <bit>

#include "lowtide/errors.h"

namespace lowtide::oracle {
namespace {

// Of the unit machine, for an op that was not measured.
constexpr double kOpSeconds = 1;

ValueSet bit(ValueId value) { return ValueSet{1} << static_cast<unsigned>(value.index); }
bool has(ValueSet set, ValueId value) { return (set & bit(value)) != 0; }
bool contains(ValueSet set, ValueSet part) { return (set & part) == part; }

}  // namespace

ReplayModel::ReplayModel(const Trace& trace, const NaturalLives& lives)
    : trace_(trace), lives_(lives) {
  if (trace.values().size() > 30) throw InvalidInput("too many values to try everything");
  for (const Op& op : trace.ops()) {
    OpSets sets;
    for (const Use& use : op.reads) {
      sets.reads |= bit(use.value);
      if (!use.side_effect) sets.replay_reads |= bit(use.value);
    }
    for (const Use& use : op.writes) {
      sets.results |= bit(use.value);
      if (!use.side_effect) sets.replay_results |= bit(use.value);
    }
    sets.result_bytes = bytes(sets.results);
    sets.seconds = op.device_seconds.value_or(kOpSeconds);
    ops_.push_back(sets);
  }
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (lives.outlives(value)) outliving_ |= bit(value);
  }
  for (int tick = 0; tick <= lives.end(); ++tick) useful_.push_back(useful(tick));
}

std::int64_t ReplayModel::bytes(ValueSet values) const {
  std::int64_t sum = 0;
  for (; values != 0; values &= values - 1) {
    sum += trace_.storage_of(ValueId{std::countr_zero(values)}).bytes;
  }
  return sum;
}

State ReplayModel::start() const {
  State state;
  for (std::size_t i = 0; i < trace_.values().size(); ++i) {
    if (trace_.values()[i].is_source()) state.there |= bit(make_id<ValueId>(i));
  }
  return state;
}

bool ReplayModel::is_done(const State& state) const {
  return state.tick == lives_.end() && contains(state.there, outliving_);
}

ValueSet ReplayModel::useful(int tick) const {
  ValueSet set = outliving_;
  for (int later = tick; later < lives_.end(); ++later) {
    set |= ops_[static_cast<std::size_t>(lives_.op_at(later))].reads;
  }
  // Backwards: an op makes its results after what it reads.
  for (std::size_t i = ops_.size(); i-- > 0;) {
    const bool can_help = trace_.ops()[i].replayable && (ops_[i].replay_results & set) != 0;
    if (can_help) set |= ops_[i].replay_reads;
  }
  return set;
}

bool ReplayModel::may_drop(int value, int tick) const {
  return !trace_.storage_of(ValueId{value}).pinned || !lives_.exists(ValueId{value}, tick);
}

State ReplayModel::tidied(State state) const {
  ValueSet useless = state.there & ~useful_[static_cast<std::size_t>(state.tick)];
  for (; useless != 0; useless &= useless - 1) {
    const int value = std::countr_zero(useless);
    if (may_drop(value, state.tick)) state.there &= ~bit(ValueId{value});
  }
  return state;
}

std::vector<Step> ReplayModel::steps(const State& state) const {
  std::vector<Step> steps;
  add_drops(state, steps);
  add_replays(state, steps);
  if (state.tick < lives_.end()) add_going_on(state, steps);
  for (Step& step : steps) step.to = tidied(step.to);
  return steps;
}

void ReplayModel::add_drops(const State& state, std::vector<Step>& steps) const {
  for (ValueSet left = state.there; left != 0; left &= left - 1) {
    const int value = std::countr_zero(left);
    if (!may_drop(value, state.tick)) continue;
    Step step{.kind = Step::Kind::kDrop, .which = value, .to = state};
    step.to.there &= ~bit(ValueId{value});
    steps.push_back(step);
  }
}

void ReplayModel::add_replays(const State& state, std::vector<Step>& steps) const {
  for (int tick = 0; tick < state.tick; ++tick) {
    const int op = lives_.op_at(tick);
    const OpSets& sets = ops_[static_cast<std::size_t>(op)];
    const bool makes_something = (sets.replay_results & ~state.there) != 0;
    if (!trace_.op(OpId{op}).replayable || !makes_something) continue;
    if (!contains(state.there, sets.replay_reads)) continue;
    Step step{.kind = Step::Kind::kReplay, .which = op, .seconds = sets.seconds, .to = state};
    step.moment_bytes =
        bytes(state.there) + sets.result_bytes + trace_.op(OpId{op}).workspace_bytes;
    step.to.there |= sets.replay_results;
    steps.push_back(step);
  }
}

void ReplayModel::add_going_on(const State& state, std::vector<Step>& steps) const {
  const OpId op{lives_.op_at(state.tick)};
  const OpSets& sets = ops_[op.slot()];
  if (!contains(state.there, sets.reads)) return;
  ValueSet overwritten = 0;
  for (const Use& use : trace_.op(op).writes) {
    const ValueId old = lives_.before(use.value);
    if (old.valid() && has(state.there, old)) overwritten |= bit(old);
  }
  // Every subset of what is overwritten and may yet be of use can be kept.
  const ValueSet worth_keeping = overwritten & useful_[static_cast<std::size_t>(state.tick) + 1];
  for (ValueSet kept = worth_keeping;; kept = (kept - 1) & worth_keeping) {
    Step step{.which = op.index, .to = {state.tick + 1, 0}};
    step.to.there = (state.there & ~(overwritten & ~kept)) | sets.results;
    step.moment_bytes = bytes(step.to.there) + trace_.op(op).workspace_bytes;
    steps.push_back(step);
    if (kept == 0) break;
  }
}

}  // namespace lowtide::oracle
