// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/place/arena_plan.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "plan/bounds.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {

using trace::Tick;

std::vector<Block> blocks_of(const Problem& problem) {
  const Trace& trace = *problem.trace;
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const auto storage = make_id<StorageId>(i);
    const auto versions = trace.versions(storage);
    const std::int64_t bytes = cost::device_bytes(trace.storage(storage), problem.machine);
    if (versions.empty() || bytes == 0) continue;
    const Tick first = std::max(lifetimes.of(versions.front()).born, 0);
    blocks.push_back({bytes, first, lifetimes.of(versions.back()).dies, storage});
  }
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Tick tick = lifetimes.tick_of(make_id<OpId>(i));
    const std::int64_t bytes = cost::device_bytes(trace.ops()[i].workspace_bytes, problem.machine);
    if (bytes > 0) blocks.push_back({bytes, tick, tick, {}});
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.first < b.first; });
  return blocks;
}

std::int64_t arena_bytes(const std::vector<Block>& blocks, const Offsets& offsets) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    end = std::max(end, offsets[i] + blocks[i].bytes);
  }
  return end;
}

PlanOutcome place_all(const Problem& problem, std::string policy, const std::vector<Block>& blocks,
                      const Offsets& offsets) {
  const std::int64_t arena = arena_bytes(blocks, offsets);
  if (arena > problem.budget_bytes) {
    const auto bounds = plan::memory_bounds(*problem.trace, problem.machine);
    return Refusal{
        .reason = base::concat("the arena takes ", base::format_bytes(arena), ", of which ",
                               base::format_bytes(bounds.plain_peak_bytes), " are in use at once"),
        .smallest_budget_bytes = arena};
  }
  WrittenPlan written;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].storage.valid()) continue;
    for (const ValueId value : problem.trace->versions(blocks[i].storage)) {
      written.actions.emplace_back(Place{value, std::nullopt, offsets[i]});
    }
  }
  return finish_plan(problem, std::move(policy), std::move(written));
}

}  // namespace lowtide::policy
