// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.h"

#include <span>
#include <utility>

#include "base/check.h"
#include "sim/known_names.h"

namespace lowtide::sim {

Simulation::Simulation(const Problem& problem, const Plan& plan, DeviceMemory memory)
    : trace_(*problem.trace),
      machine_(problem.machine),
      plan_(with_known_names(problem, plan)),
      schedule_(trace_, plan),
      links_(machine_.tiers),
      clocks_(links_, timeline_),
      memory_(std::move(memory)),
      tier_bytes_(machine_.tiers.size(), 0),
      outwards_(machine_.most_bytes_in_flight),
      inwards_(machine_.most_bytes_in_flight) {
  values_.reserve(trace_.values().size());
  for (const Value& value : trace_.values()) {
    Whereabouts& where = values_.emplace_back();
    where.bytes = trace_.storage(value.storage).bytes;
    where.kind = trace_.storage(value.storage).kind;
    if (value.version == 0) continue;
    where.previous = trace_.versions(value.storage)[static_cast<std::size_t>(value.version) - 1];
  }
  timeline_.tier_peak_bytes.resize(machine_.tiers.size(), 0);
}

Timeline Simulation::run() {
  place_sources();
  timeline_.ticks.reserve(static_cast<std::size_t>(schedule_.end()) + 1);
  for (Tick tick = 0; tick <= schedule_.end(); ++tick) timeline_.ticks.push_back(run_tick(tick));
  timeline_.links = links_.use();
  if (log_ != nullptr) log_copies();
  timeline_.reserved_peak_bytes = memory_.allocator().reserved_peak_bytes();
  timeline_.fragmentation_failures = memory_.allocator().failures();
  return std::move(timeline_);
}

double Simulation::seconds() {
  place_sources();
  for (Tick tick = 0; tick <= schedule_.end(); ++tick) run_tick(tick);
  return timeline_.seconds;
}

void Simulation::place_sources() {
  std::vector<TierId> starts(trace_.storages().size());
  for (const StartsIn& start : plan_.starts) starts[start.storage.slot()] = start.tier;
  for (std::size_t i = 0; i < trace_.values().size(); ++i) {
    const Value& value = trace_.values()[i];
    if (!value.is_source()) break;  // sources come first
    const auto id = make_id<ValueId>(i);
    if (const TierId tier = starts[value.storage.slot()]; tier.valid()) {
      enter_tier(id, tier);
    } else {
      allocate_raw(id);
      at(id).on_device = Whereabouts::OnDevice::kRaw;
    }
  }
}

TickUse Simulation::run_tick(Tick tick) {
  const bool is_end = tick == schedule_.end();
  op_ = schedule_.lifetimes().op_at(tick);
  clocks_.begin_tick(op_);
  memory_.begin_tick();
  TickUse use;
  use.op = op_;
  use.start_seconds = clocks_.device_seconds();

  issue(tick);
  for (const std::int32_t index : schedule_.at(tick).waits) {
    await_fetch(std::get<Fetch>(plan_.actions[static_cast<std::size_t>(index)]), index);
  }
  prelude(tick);
  if (!is_end) run_op(tick, op_);
  release(tick);
  if (is_end) finish();

  use.end_seconds = clocks_.device_seconds();
  use.bytes = memory_.fullest().bytes;
  use.leaving_bytes = memory_.fullest().leaving_bytes;
  if (memory_.fullest().total_bytes > timeline_.peak_bytes || tick == 0) {
    timeline_.peak_bytes = memory_.fullest().total_bytes;
    timeline_.peak_op = op_;
  }
  return use;
}

// The engine passes over an op that only looks at storages in another way, with nothing to be done.
bool Simulation::is_passed_over(Tick tick) const {
  if (tick == schedule_.end()) return false;
  const plan::Schedule::At at = schedule_.at(tick);
  const bool is_idle = at.issues.empty() && at.prelude.empty() && at.releases.empty();
  const Op& op = trace_.op(schedule_.lifetimes().op_at(tick));
  return is_idle && !op.views.empty() && op.writes.empty();
}

void Simulation::issue(Tick tick) {
  if (!is_passed_over(tick)) begin_waiting_fetches();
  for (const std::int32_t index : schedule_.at(tick).issues) {
    const Action& action = plan_.actions[static_cast<std::size_t>(index)];
    if (const auto* fetch = std::get_if<Fetch>(&action)) {
      begin_or_wait(*fetch, index);
    } else {
      decode(std::get<Decode>(take_action(index)).value);
    }
  }
}

void Simulation::prelude(Tick tick) {
  const std::span<const std::int32_t> actions = schedule_.at(tick).prelude;
  if (actions.empty()) return;
  find_last_readers(tick);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = take_action(actions[i]);
    if (const auto* run = std::get_if<Run>(&action)) {
      replay(tick, *run, static_cast<std::int32_t>(i));
    } else {
      drop(std::get<Drop>(action).value);
    }
  }
}

void Simulation::release(Tick tick) {
  clocks_.settle();
  catch_up();
  // What outlives the step dies at its end, where nothing is released any more.
  if (tick < schedule_.end()) {
    for (const ValueId dead : schedule_.lifetimes().deaths(tick)) {
      if (schedule_.held_until(dead, tick) <= tick) let_go(dead);
    }
  }
  for (const ValueId value : schedule_.holds_ending(tick)) let_go(value);
  begin_waiting_moves(false);
  for (const std::int32_t index : schedule_.at(tick).releases) {
    const Action& action = plan_.actions[static_cast<std::size_t>(index)];
    if (const auto* moved = std::get_if<Move>(&action)) {
      begin_or_wait(*moved, index);
      continue;
    }
    take_action(index);
    if (const auto* encoded = std::get_if<Encode>(&action)) {
      encode(encoded->value, codec_named(encoded->value, encoded->codec));
    } else {
      drop(std::get<Drop>(action).value);
    }
  }
}

const Action& Simulation::take_action(std::int32_t index) {
  timeline_.actions.push_back({.op = op_, .action = index});
  clocks_.work_on_host(machine_.action_seconds);
  return plan_.actions[static_cast<std::size_t>(index)];
}

void Simulation::finish() {
  begin_waiting_moves(true);
  const Links::CopyId last = links_.finish_all();
  if (last != Links::kNone) {
    clocks_.stall_until(links_.finish_time(last), StallCause::kDrain,
                        notes_[static_cast<std::size_t>(last)].value);
    catch_up();
  }
  timeline_.seconds = clocks_.device_seconds();
}

void Simulation::begin_work(double issue_seconds, std::int64_t bytes) {
  clocks_.start_work(issue_seconds);
  catch_up();
  while (memory_.moves_in_the_way(bytes) > 0) {
    const DeviceMemory::Leaving& first = memory_.leaving(0);
    clocks_.stall_until(links_.finish_time(first.copy), StallCause::kRoom, first.value);
    catch_up();
  }
}

void Simulation::end_work(double seconds) {
  clocks_.work(seconds);
  catch_up();
}

void Simulation::catch_up() {
  for (const Links::CopyId id : links_.take_finished()) {
    const Note& note = notes_[static_cast<std::size_t>(id)];
    if (note.staging_bytes > 0) change_tier_bytes(TierId{0}, -note.staging_bytes);
    if (!note.frees_device) continue;
    if (stays_) stays_->close(memory_.leaving(0).piece.block, op_, links_.finish_time(id));
    timeline_.departures.push_back({.value = memory_.leaving(0).value, .op = op_});
    outwards_.end(at(memory_.leaving(0).value).bytes);
    for (const ValueId fetched : memory_.end_leaving(id)) allocate_fetched(fetched);
  }
}

std::int64_t Simulation::device_bytes(std::int64_t bytes) const {
  return cost::device_bytes(bytes, machine_);
}

void Simulation::require(bool condition, std::string_view doing, ValueId value,
                         std::string_view trouble) const {
  LT_REQUIRE(condition, doing, " ", trace_.value_name(value), ", which ", trouble, ", at ",
             trace_.op_name(op_), "; run lowtide check for the full list");
}

double simulated_seconds(const Problem& problem, const Plan& plan) {
  return Simulation(problem, plan, DeviceMemory(problem.budget_bytes)).seconds();
}

}  // namespace lowtide::sim

namespace lowtide {

Timeline simulate(const Problem& problem, const Plan& plan) {
  sim::DeviceMemory memory(problem.machine.allocator, problem.budget_bytes);
  return sim::Simulation(problem, plan, std::move(memory)).run();
}

}  // namespace lowtide
