// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/event_log.h"

#include <variant>

namespace lowtide::torch_test {
namespace {

using Kind = StepEvent::Kind;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kFetch:
      return "fetch";
    case Kind::kReplay:
      return "replay";
    case Kind::kDrop:
      return "drop";
    case Kind::kMove:
      return "move";
    case Kind::kLeft:
      return "left";
    case Kind::kOnlineMove:
      return "online move";
  }
  return "?";
}

Kind kind_of(run::ValueEvent event, const run::Value& value) {
  switch (event) {
    case run::ValueEvent::kLeaves:
      return Kind::kMove;
    case run::ValueEvent::kGoesToHost:
      return value.is_leaving ? Kind::kLeft : Kind::kOnlineMove;
    case run::ValueEvent::kDropped:
      return Kind::kDrop;
    case run::ValueEvent::kFetched:
      return Kind::kFetch;
    case run::ValueEvent::kReplayed:
      return Kind::kReplay;
    case run::ValueEvent::kWanted:
      break;
  }
  return Kind::kMove;
}

// What the storage holds when so many ops are done.
std::int32_t value_after(const Trace& trace, StorageId storage, std::int32_t done) {
  std::int32_t found = -1;
  for (const ValueId id : trace.versions(storage)) {
    const OpId producer = trace.value(id).producer;
    if (!producer.valid() || producer.index < done) found = id.index;
  }
  return found;
}

}  // namespace

std::string to_string(const StepEvent& event, const Trace& trace) {
  std::string subject = "unknown";
  if (event.subject >= 0) {
    subject = event.kind == Kind::kReplay ? trace.op_name(OpId{event.subject})
                                          : trace.value_name(ValueId{event.subject});
  }
  return std::string(name_of(event.kind)) + " " + subject +
         (event.is_before ? " before " : " after ") + std::to_string(event.op);
}

std::vector<StepEvent> planned_events(const Plan& plan, const Timeline& timeline) {
  std::vector<StepEvent> events;
  for (const ActionDone& done : timeline.actions) {
    const Action& action = plan.actions[static_cast<std::size_t>(done.action)];
    StepEvent event{.is_before = true, .op = done.op.index};
    if (const Fetch* fetch = std::get_if<Fetch>(&action)) {
      event.kind = Kind::kFetch;
      event.subject = fetch->value.index;
    } else if (const Run* run = std::get_if<Run>(&action)) {
      event.kind = Kind::kReplay;
      event.subject = run->op.index;
    } else if (const Drop* drop = std::get_if<Drop>(&action)) {
      event.kind = Kind::kDrop;
      event.is_before = drop->side == Drop::Side::kBefore;
      event.subject = drop->value.index;
    } else {
      event.is_before = false;
      event.subject = std::get<Move>(action).value.index;
    }
    events.push_back(event);
  }
  return events;
}

EventLog::EventLog(run::Runtime& runtime) : runtime_(runtime) {
  const run::Books::Lock lock(runtime_.books());
  runtime_.books().witnesses.push_back(this);
}

EventLog::~EventLog() {
  const run::Books::Lock lock(runtime_.books());
  std::erase(runtime_.books().witnesses, this);
}

void EventLog::start() {
  const run::Books::Lock lock(runtime_.books());
  step_.reset();
  events_.clear();
  ops_before_ = runtime_.books().counters.ops;
}

void EventLog::on_event(run::ValueEvent event, const run::Value& value) {
  const run::Guide& guide = runtime_.guide();
  if (guide.step()) step_ = guide.step();
  if (!step_ || event == run::ValueEvent::kWanted) return;
  const auto done = static_cast<std::int32_t>(runtime_.books().counters.ops - ops_before_);
  // When the last op is done, the guide has left the step.
  const bool is_over =
      !guide.step() && done == static_cast<std::int32_t>(step_->trace().ops().size());
  StepEvent entry;
  entry.kind = kind_of(event, value);
  entry.is_before = is_over || static_cast<std::int32_t>(guide.position()) > done;
  entry.op = entry.is_before ? done : done - 1;
  entry.subject = subject_of(event, value, done);
  events_.push_back(entry);
}

std::int32_t EventLog::subject_of(run::ValueEvent event, const run::Value& value,
                                  std::int32_t done) const {
  if (event == run::ValueEvent::kReplayed) return value.producer ? value.producer->tick : -1;
  if (value.place == nullptr || value.place->guided_storage < 0) return -1;
  const StorageId storage{value.place->guided_storage};
  return value_after(step_->trace(), storage, done);
}

}  // namespace lowtide::torch_test
