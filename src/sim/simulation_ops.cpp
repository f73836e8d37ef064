// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <span>
#include <utility>

#include "base/check.h"
#include "sim/simulation.h"

// The ops of the step and their replays.

namespace lowtide::sim {

using OnDevice = Whereabouts::OnDevice;

Simulation::Way Simulation::way_of(OpId id) const {
  const Op& op = trace_.op(id);
  const std::int32_t chosen = schedule_.chosen(id);
  if (chosen < 0) {
    return {cost::op_seconds(trace_, op, machine_), device_bytes(op.workspace_bytes), false, false};
  }
  const Implementation& option = op.options[static_cast<std::size_t>(chosen)];
  return {option.seconds, device_bytes(option.workspace_bytes), option.on_host, option.reads_host};
}

void Simulation::require_inputs(OpId id, const Way& way, bool is_replay) {
  const std::string_view doing = is_replay ? "a replay reads" : "the op reads";
  for (const Use& use : trace_.reads(id)) {
    if (is_replay && use.side_effect) continue;
    const Whereabouts& where = at(use.value);
    if (way.is_on_host) {
      require(where.lies_plain_on_host(), doing, use.value, "is not in host memory");
    } else if (way.reads_host && !where.is_raw()) {
      require(where.lies_plain_on_host(), doing, use.value, "is neither on device nor host");
      clocks_.wait_for(where.arrival, use.value);
    } else {
      require(where.is_raw(), doing, use.value, "is not on the device");
    }
  }
}

ValueId Simulation::overwritten(ValueId result, Tick tick) const {
  const ValueId old = at(result).previous;
  return old.valid() && schedule_.held_until(old, tick) > tick ? ValueId{} : old;
}

void Simulation::run_op(Tick tick, OpId id) {
  const Op& op = trace_.op(id);
  const Way way = way_of(id);
  require_inputs(id, way, false);
  if (way.is_on_host) return run_on_host(tick, op, way);

  std::int64_t bytes = way.workspace_bytes;
  for (const Use& use : op.writes) {
    const ValueId old = overwritten(use.value, tick);
    if (!old.valid() || !at(old).is_raw()) bytes += raw_bytes(use.value);
  }
  begin_work(cost::issue_seconds(op, machine_), bytes);
  for (const Use& use : op.writes) {
    Whereabouts& result = at(use.value);
    const ValueId old = overwritten(use.value, tick);
    if (old.valid() && at(old).is_raw()) {
      result.raw = std::exchange(at(old).raw, AllocatorModel::kNothing);
      at(old).on_device = OnDevice::kAbsent;
    } else {
      allocate_raw(use.value);
    }
    result.on_device = OnDevice::kRaw;
  }
  Piece workspace = allocate(way.workspace_bytes, StorageKind::kWorkspace, {});
  end_work(way.seconds);
  log_work(Work::Kind::kOp, id, way.seconds);
  free(workspace);
  timeline_.compute_seconds += way.seconds;
}

void Simulation::run_on_host(Tick tick, const Op& op, const Way& way) {
  LT_REQUIRE(!machine_.tiers.empty(), trace_.op_name(op_), " is to run on the host, but machine ",
             machine_.name, " has no host memory");
  std::vector<Links::CopyId> inputs;
  for (const Use& use : op.reads) inputs.push_back(at(use.value).arrival);
  const double start = clocks_.issue(cost::issue_seconds(op, machine_));
  const Links::CopyId work = links_.host_work(way.seconds, start, inputs);
  notes_.push_back({});
  for (const Use& use : op.writes) {
    notes_.back().value = use.value;
    // In place on the host, too.
    const ValueId old = overwritten(use.value, tick);
    if (old.valid() && at(old).lies_plain_on_host()) leave_tier(old);
    enter_tier(use.value, TierId{0});
    at(use.value).arrival = work;
  }
}

void Simulation::find_last_readers(Tick tick) {
  const std::span<const std::int32_t> actions = schedule_.at(tick).prelude;
  last_readers_.resize(values_.size());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto* run = std::get_if<Run>(&plan_.actions[static_cast<std::size_t>(actions[i])]);
    if (run == nullptr) continue;
    for (const Use& use : trace_.op(run->op).reads) {
      if (!use.side_effect) last_readers_[use.value.slot()] = {tick, static_cast<std::int32_t>(i)};
    }
  }
}

bool Simulation::is_wanted(ValueId value, Tick tick, std::int32_t position) const {
  const LastReader& reader = last_readers_[value.slot()];
  return schedule_.lifetimes().of(value).exists_at(tick) ||
         schedule_.held_until(value, tick) >= tick ||
         (reader.tick == tick && reader.position > position);
}

void Simulation::replay(Tick tick, const Run& run, std::int32_t position) {
  const Op& op = trace_.op(run.op);
  const Way way = way_of(run.op);
  LT_REQUIRE(!way.is_on_host && schedule_.lifetimes().tick_of(run.op) < tick, "a replay of ",
             trace_.op_name(run.op), ", which has not run on the device, at ", trace_.op_name(op_),
             "; run lowtide check for the full list");
  require_inputs(run.op, way, true);
  std::int64_t bytes = way.workspace_bytes;
  for (const Use& use : op.writes) bytes += raw_bytes(use.value);
  begin_work(cost::issue_seconds(op, machine_), bytes);
  std::vector<Piece> pieces;
  for (const Use& use : op.writes) {
    const StorageKind counted_as = use.side_effect ? StorageKind::kWorkspace : at(use.value).kind;
    const StorageId storage = use.side_effect ? StorageId{} : trace_.value(use.value).storage;
    pieces.push_back(allocate(raw_bytes(use.value), counted_as, storage));
  }
  Piece workspace = allocate(way.workspace_bytes, StorageKind::kWorkspace, {});
  end_work(way.seconds);
  log_work(Work::Kind::kReplay, run.op, way.seconds);
  free(workspace);
  for (std::size_t i = 0; i < op.writes.size(); ++i) {
    const Use& use = op.writes[i];
    if (use.side_effect || !at(use.value).is_nowhere() || !is_wanted(use.value, tick, position)) {
      free(pieces[i]);
      continue;
    }
    at(use.value).raw = pieces[i].block;
    at(use.value).on_device = OnDevice::kRaw;
  }
  let_go_after(op, tick, position);
  timeline_.recompute_seconds += way.seconds;
  ++timeline_.replays;
}

// What a replay read for the last time goes, if it was there for the replays only.
void Simulation::let_go_after(const Op& op, Tick tick, std::int32_t position) {
  for (const Use& use : op.reads) {
    if (!use.side_effect && at(use.value).is_raw() && !is_wanted(use.value, tick, position)) {
      drop(use.value);
    }
  }
}

}  // namespace lowtide::sim
