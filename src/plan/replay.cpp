// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/replay.h"

#include "base/check.h"
#include "cost/op_cost.h"

namespace lowtide::plan {

using Kind = Violation::Kind;

Replay::Replay(const Problem& problem, const Plan& plan, const Schedule& schedule,
               Residency& residency, Findings& findings)
    : problem_(problem),
      trace_(*problem.trace),
      plan_(plan),
      schedule_(schedule),
      residency_(residency),
      findings_(findings),
      reads_(problem, schedule, residency, findings),
      last_reader_(trace_.values().size()),
      is_temporary_(trace_.values().size(), false) {}

void Replay::begin_prelude(Tick tick, OpId position) {
  tick_ = tick;
  position_ = position;
  for (const std::int32_t index : schedule_.at(tick).prelude) {
    const auto* run = std::get_if<Run>(&plan_.actions[static_cast<std::size_t>(index)]);
    if (run == nullptr) continue;
    for (const Use& use : trace_.op(run->op).reads) {
      if (!use.side_effect) last_reader_[use.value.slot()] = {tick, index};
    }
  }
}

void Replay::run(const Run& run, std::int32_t index) {
  const Op& op = trace_.op(run.op);
  if (can_run(run)) {
    check_results(run);
    reads_.check(run.op, Reads::kReplay, tick_, position_);
    std::vector<ValueId> made;
    for (const Use& use : op.writes) {
      if (!use.side_effect && residency_.of(use.value).nowhere()) made.push_back(use.value);
    }
    // What is there already is made a second time, privately.
    const std::int64_t besides = besides_bytes(run.op);
    for (const ValueId value : made) residency_.make_raw(value);
    residency_.use_besides(besides);
    for (const ValueId value : made) settle(value, index);
  }
  release_read(op, index);
}

// Reports what forbids the replay; false if it makes no sense to go on with it.
bool Replay::can_run(const Run& run) {
  const auto report = [&](Kind kind, const char* why) {
    findings_.add({kind, run.op, ValueId{},
                   base::concat("the replay of ", trace_.op_name(run.op), " before ",
                                trace_.op_name(position_), ": ", why)});
  };
  const Implementation* chosen = reads_.chosen(run.op);
  if (schedule_.lifetimes().tick_of(run.op) >= tick_) {
    report(Kind::kBadPosition, "the op has not run yet");
    return false;
  }
  if (chosen != nullptr && chosen->on_host) {
    report(Kind::kNotReplayable, "the op runs on the host");
    return false;
  }
  if (!trace_.op(run.op).replayable) report(Kind::kNotReplayable, "the op may run once only");
  return true;
}

void Replay::check_results(const Run& run) {
  ValueId present;
  for (const Use& use : trace_.op(run.op).writes) {
    if (use.side_effect) continue;
    if (residency_.of(use.value).nowhere()) return;
    if (!present.valid()) present = use.value;
  }
  const std::string why =
      present.valid() ? base::concat("all its results are there, ", trace_.value_name(present), " ",
                                     residency_.whereabouts(present))
                      : std::string("the op yields nothing");
  findings_.add({Kind::kAlreadyPresent, run.op, present,
                 base::concat("the replay of ", trace_.op_name(run.op), " before ",
                              trace_.op_name(position_), ": ", why)});
}

// Bytes that count during the run besides the results that were nowhere: private copies of the
// others, scratch for side effects, workspace.
std::int64_t Replay::besides_bytes(OpId id) const {
  const Op& op = trace_.op(id);
  std::int64_t bytes = workspace_bytes(problem_, op, reads_.chosen(id));
  for (const Use& use : op.writes) {
    if (!use.side_effect && residency_.of(use.value).nowhere()) continue;
    bytes += cost::device_bytes(trace_.storage_of(use.value), problem_.machine);
  }
  return bytes;
}

bool Replay::is_kept_past_prelude(ValueId value) const {
  return schedule_.lifetimes().of(value).exists_at(tick_) ||
         schedule_.held_until(value, tick_) >= tick_;
}

void Replay::settle(ValueId value, std::int32_t index) {
  if (is_kept_past_prelude(value)) return;
  const Reader& reader = last_reader_[value.slot()];
  const bool is_read_later = reader.tick == tick_ && reader.action > index;
  is_temporary_[value.slot()] = is_read_later;
  if (!is_read_later) residency_.let_go(value, Residency::Loss::kUnwanted);
}

// Lets go of temporaries that this run was the last to read.
void Replay::release_read(const Op& op, std::int32_t index) {
  for (const Use& use : op.reads) {
    const std::size_t slot = use.value.slot();
    if (use.side_effect || !is_temporary_[slot] || last_reader_[slot].action != index) continue;
    is_temporary_[slot] = false;
    const Form form = residency_.of(use.value).form;
    if (form == Form::kRaw) residency_.let_go(use.value, Residency::Loss::kUnwanted);
  }
}

}  // namespace lowtide::plan
