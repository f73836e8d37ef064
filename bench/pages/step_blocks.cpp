// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "step_blocks.h"

#include <algorithm>
#include <tuple>

#include "sim/step_log.h"

namespace lowtide::bench {
namespace {

// What goes at a time goes before what comes at it.
struct TimedEvent {
  double seconds;
  BlockEvent event;
  auto key() const { return std::tuple(seconds, event.comes, event.block); }
};

}  // namespace

StepBlocks blocks_under(const Problem& problem, const Plan& plan, std::int64_t least_bytes) {
  sim::StepLog log;
  StepBlocks step;
  step.seconds = sim::simulate_logged(problem, plan, log).seconds;
  const auto end = make_id<OpId>(problem.trace->ops().size());
  std::vector<TimedEvent> events;
  for (const sim::Stay& stay : log.stays) {
    const bool is_short = stay.start_seconds >= stay.end_seconds;
    if (stay.bytes < least_bytes || is_short) continue;
    const std::size_t number = step.blocks.size();
    const bool is_named = stay.storage.valid();
    const bool is_there_at_start =
        is_named && stay.start_seconds <= 0 && problem.trace->storage(stay.storage).at_start;
    const bool is_there_at_end = is_named && stay.to == end;
    step.blocks.push_back({stay.bytes, stay.storage, is_there_at_start, is_there_at_end});
    if (!is_there_at_start) events.push_back({stay.start_seconds, {number, true}});
    if (!is_there_at_end) events.push_back({stay.end_seconds, {number, false}});
  }
  std::sort(events.begin(), events.end(),
            [](const TimedEvent& a, const TimedEvent& b) { return a.key() < b.key(); });
  for (const TimedEvent& timed : events) step.events.push_back(timed.event);
  return step;
}

}  // namespace lowtide::bench
