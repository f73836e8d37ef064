// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/guided_step.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"

namespace lowtide::engine {

std::uint64_t StepScript::shape() const {
  base::Digest digest;
  for (const Line& line : lines) digest.add(static_cast<std::int64_t>(line.signature));
  return digest.value();
}

bool StepScript::begins_as(const StepScript& other, std::size_t ops) const {
  if (lines.size() < ops || other.lines.size() < ops) return false;
  const auto end = lines.begin() + static_cast<std::ptrdiff_t>(ops);
  return std::equal(lines.begin(), end, other.lines.begin(), [](const Line& a, const Line& b) {
    return a.signature == b.signature && a.arguments == b.arguments && a.results == b.results;
  });
}

GuidedStep::GuidedStep(CapturedStep step, Plan plan, const std::vector<Departure>& departures)
    : step_(std::move(step)),
      plan_(std::move(plan)),
      shape_(step_.script.shape()),
      schedule_(*step_.trace, plan_) {
  find_repeated();
  find_holds();
  find_dropped_dead();
  sort(departures);
  find_touched();
  find_quiet();
  count_quiet_views();
}

// Also the makers of what a repeated op overwrites: without them its old value could not be made
// again, so that the op could not either. And those of what is dropped for good: the engine drops
// nothing that it could not make again.
void GuidedStep::find_repeated() {
  is_repeated_.resize(trace().ops().size());
  std::vector<OpId> open;
  const auto add = [&](OpId op) {
    if (!op.valid() || is_repeated_[op.slot()]) return;
    is_repeated_[op.slot()] = true;
    open.push_back(op);
  };
  for (const Action& action : plan_.actions) {
    if (const Run* run = std::get_if<Run>(&action)) add(run->op);
    if (const Drop* drop = std::get_if<Drop>(&action)) add(trace().value(drop->value).producer);
  }
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    for (const Use& written : trace().writes(op)) {
      const StorageId storage = trace().value(written.value).storage;
      for (const Use& read : trace().reads(op)) {
        const Value& old = trace().value(read.value);
        if (old.storage == storage && !read.side_effect) add(old.producer);
      }
    }
  }
}

void GuidedStep::find_holds() {
  base::Grouped<Hold>::Items items;
  for (const Action& action : plan_.actions) {
    const Hold* hold = std::get_if<Hold>(&action);
    if (hold == nullptr) continue;
    const plan::Tick born = schedule_.lifetimes().of(hold->value).born;
    const plan::Tick from = std::max(born, schedule_.first_tick(*hold));
    items.emplace_back(static_cast<std::uint32_t>(std::max(from, 0)), *hold);
  }
  holds_from_ = base::Grouped<Hold>(trace().ops().size() + 1, items);
}

void GuidedStep::find_dropped_dead() {
  for (const Action& action : plan_.actions) {
    const Drop* drop = std::get_if<Drop>(&action);
    if (drop == nullptr) continue;
    const plan::Tick tick = schedule_.lifetimes().tick_of(drop->op);
    if (!schedule_.lifetimes().of(drop->value).exists_at(tick)) dropped_dead_.insert(drop->value);
  }
}

void GuidedStep::sort(const std::vector<Departure>& departures) {
  base::Grouped<ValueId>::Items items;
  for (const Departure& departure : departures) {
    const plan::Tick tick = schedule_.lifetimes().tick_of(departure.op);
    items.emplace_back(static_cast<std::uint32_t>(tick), departure.value);
  }
  departed_in_ = base::Grouped<ValueId>(trace().ops().size() + 1, items);
}

plan::Tick GuidedStep::held_until(OpId op, plan::Tick tick) const {
  plan::Tick last = -1;
  for (const Use& written : trace().writes(op)) {
    last = std::max(last, schedule_.held_until(written.value, tick));
  }
  return last;
}

std::map<OpId, std::int32_t> GuidedStep::last_readers(std::span<const std::int32_t> actions) const {
  std::map<OpId, std::int32_t> readers;
  for (const std::int32_t index : actions) {
    const Run* run = std::get_if<Run>(&plan_.actions[static_cast<std::size_t>(index)]);
    if (run == nullptr) continue;
    for (const Use& read : trace().reads(run->op))
      readers[trace().value(read.value).producer] = index;
  }
  return readers;
}

void GuidedStep::find_touched() {
  is_touched_.resize(trace().storages().size());
  const auto touch = [this](ValueId value) {
    is_touched_[trace().value(value).storage.slot()] = true;
  };
  for (const Action& action : plan_.actions) {
    std::visit(
        [&](const auto& known) {
          if constexpr (requires { known.value; }) touch(known.value);
        },
        action);
  }
  for (std::size_t op = 0; op < is_repeated_.size(); ++op) {
    if (!is_repeated_[op]) continue;
    for (const Use& read : trace().reads(make_id<OpId>(op))) touch(read.value);
    for (const Use& written : trace().writes(make_id<OpId>(op))) touch(written.value);
  }
}

bool GuidedStep::writes_only_results(std::size_t op) const {
  const auto arguments = script().arguments(script().lines[op]);
  const auto& written = trace().writes(make_id<OpId>(op));
  return std::none_of(written.begin(), written.end(), [&](const Use& use) {
    const StorageId storage = trace().value(use.value).storage;
    return std::find(arguments.begin(), arguments.end(), storage) != arguments.end();
  });
}

void GuidedStep::find_quiet() {
  const std::size_t ops = trace().ops().size();
  std::vector<bool> ends_hold(ops + 1, false);
  for (const Action& action : plan_.actions) {
    if (const Hold* hold = std::get_if<Hold>(&action)) {
      const auto last = static_cast<std::size_t>(std::max(schedule_.last_tick(*hold), 0));
      ends_hold[std::min(last, ops)] = true;
    }
  }
  is_quiet_.resize(ops);
  for (std::size_t op = 0; op < ops; ++op) {
    const plan::Schedule::At at = schedule_.at(static_cast<plan::Tick>(op));
    const bool has_work = !at.issues.empty() || !at.prelude.empty() || !at.releases.empty() ||
                          !departed_in_[op].empty();
    is_quiet_[op] = !has_work && !ends_hold[op] && holds_from_[op].empty() && !is_repeated_[op] &&
                    writes_only_results(op);
  }
}

void GuidedStep::count_quiet_views() {
  quiet_views_.resize(is_quiet_.size() + 1, 0);
  for (std::size_t op = is_quiet_.size(); op-- > 0;) {
    const Op& known = trace().op(make_id<OpId>(op));
    const bool is_view = !known.views.empty() && trace().writes(make_id<OpId>(op)).empty();
    if (is_quiet_[op] && is_view) quiet_views_[op] = quiet_views_[op + 1] + 1;
  }
}

}  // namespace lowtide::engine
