// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/simulate.h"
#include "run/engine/guided_step.h"
#include "run/torch/books.h"
#include "run/torch/runtime.h"

// What is done with the values of a step, and at which place in its sequence of ops: as a plan
// wants it, and as the engine does it.

namespace lowtide::torch_test {

struct StepEvent {
  enum class Kind {
    kFetch,
    kReplay,
    kDrop,
    kMove,
    // The bytes of a value that was to leave have gone: where the simulator said, or before, when
    // room was needed. The engine's only.
    kLeft,
    // The online rule moved something that was not to leave.
    kOnlineMove,
  };
  Kind kind = Kind::kMove;
  // Before or after which op.
  bool is_before = false;
  std::int32_t op = 0;
  // A value; for kReplay an op. -1: the plan does not know it.
  std::int32_t subject = -1;
  friend auto operator<=>(const StepEvent&, const StepEvent&) = default;
};

std::string to_string(const StepEvent& event, const Trace& trace);

// Those of the simulator.
std::vector<StepEvent> planned_events(const Plan& plan, const Timeline& timeline);

// Writes down those of the engine. Steps must run on one thread.
class EventLog final : public run::Witness {
 public:
  explicit EventLog(run::Runtime& runtime);
  ~EventLog() override;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // A step begins: starts anew.
  void start();
  void on_event(run::ValueEvent event, const run::Value& value) override;
  void on_choice(const run::Value&, const plan::EvictionPrice&) override {}

  // Of the step that ended last. Null: it was not guided, or nothing happened in it.
  const std::shared_ptr<const engine::GuidedStep>& step() const { return step_; }
  const std::vector<StepEvent>& events() const { return events_; }

 private:
  std::int32_t subject_of(run::ValueEvent event, const run::Value& value, std::int32_t done) const;

  run::Runtime& runtime_;
  std::shared_ptr<const engine::GuidedStep> step_;
  std::vector<StepEvent> events_;
  std::int64_t ops_before_ = 0;
};

}  // namespace lowtide::torch_test
