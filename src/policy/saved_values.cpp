// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/saved_values.h"

#include <algorithm>

namespace lowtide::policy {

using trace::Tick;

std::optional<SavedValue> saved_value(const Trace& trace, const trace::Lifetimes& lifetimes,
                                      ValueId value) {
  const trace::Lifetime& life = lifetimes.of(value);
  SavedValue saved = {value, -1, -1, false};
  if (life.born >= 0 && trace.op(lifetimes.op_at(life.born)).phase == Phase::kForward) {
    saved.last_forward = life.born;
  }
  for (const Tick read : life.reads) {
    const Phase phase = trace.op(lifetimes.op_at(read)).phase;
    if (phase == Phase::kForward) {
      saved.last_forward = read;
      saved.is_read_forward = true;
    } else if (phase == Phase::kBackward) {
      saved.first_backward = read;
      break;
    }
  }
  const bool is_idle = saved.last_forward >= 0 && saved.first_backward > saved.last_forward + 1;
  return is_idle ? std::optional(saved) : std::nullopt;
}

Tick backward_start(const Trace& trace, const trace::Lifetimes& lifetimes) {
  const auto& sequence = lifetimes.sequence();
  const auto first = std::find_if(sequence.begin(), sequence.end(),
                                  [&](OpId op) { return trace.op(op).phase == Phase::kBackward; });
  return static_cast<Tick>(first - sequence.begin());
}

std::vector<SwapDecision> move_least_recently_used(const std::vector<SavedValue>& by_last_forward,
                                                   const cost::CostTable& costs,
                                                   std::int64_t budget_bytes,
                                                   std::vector<std::int64_t>& tick_bytes) {
  std::vector<SwapDecision> swaps;
  std::size_t oldest = 0;
  // By tick: the bytes that are away from it on, and those that are back.
  std::vector<std::int64_t> leaving(tick_bytes.size() + 1, 0);
  std::vector<std::int64_t> returning(tick_bytes.size() + 1, 0);
  std::int64_t away = 0;
  for (Tick tick = 0; tick < static_cast<Tick>(tick_bytes.size()); ++tick) {
    const auto slot = static_cast<std::size_t>(tick);
    away -= returning[slot];
    for (; oldest < by_last_forward.size() && tick_bytes[slot] - away > budget_bytes; ++oldest) {
      const auto& [value, last_forward, first_backward, is_read] = by_last_forward[oldest];
      if (last_forward >= tick) break;
      // The backward pass has it already.
      if (first_backward <= tick) continue;
      const std::int64_t bytes = costs.value(value);
      away += bytes;
      returning[static_cast<std::size_t>(first_backward)] += bytes;
      leaving[static_cast<std::size_t>(last_forward) + 1] += bytes;
      swaps.push_back({value, TierId{0}, last_forward, first_backward, first_backward});
    }
  }
  away = 0;
  for (std::size_t slot = 0; slot < tick_bytes.size(); ++slot) {
    away += leaving[slot] - returning[slot];
    tick_bytes[slot] -= away;
  }
  return swaps;
}

void fetch_early(SwapDecision& swap, Tick wanted, std::int64_t bytes, std::int64_t budget_bytes,
                 std::vector<std::int64_t>& tick_bytes) {
  wanted = std::max(wanted, swap.after + 1);
  for (Tick tick = swap.issue - 1; tick >= wanted; --tick) {
    std::int64_t& held = tick_bytes[static_cast<std::size_t>(tick)];
    if (held + bytes > budget_bytes) return;
    held += bytes;
    swap.issue = tick;
  }
}

}  // namespace lowtide::policy
