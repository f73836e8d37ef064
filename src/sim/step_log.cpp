// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/step_log.h"

#include <algorithm>
#include <utility>

#include "sim/simulation.h"

namespace lowtide::sim {

void StayWriter::open(AllocatorModel::Handle block, const Stay& stay) {
  if (block != AllocatorModel::kNothing) open_.insert_or_assign(block, stay);
}

void StayWriter::close(AllocatorModel::Handle block, OpId op, double seconds) {
  const auto found = open_.find(block);
  if (found == open_.end()) return;
  found->second.to = op;
  found->second.end_seconds = seconds;
  stays_.push_back(found->second);
  open_.erase(found);
}

void StayWriter::close_all(OpId op, double seconds) {
  std::vector<AllocatorModel::Handle> blocks;
  for (const auto& [block, stay] : open_) blocks.push_back(block);
  // The order of a hash table is nobody's business.
  std::sort(blocks.begin(), blocks.end());
  for (const AllocatorModel::Handle block : blocks) close(block, op, seconds);
}

Timeline simulate_logged(const Problem& problem, const Plan& plan, StepLog& log) {
  log = {};
  DeviceMemory memory(problem.machine.allocator, problem.budget_bytes);
  Simulation simulation(problem, plan, std::move(memory));
  simulation.write_log(log);
  return simulation.run();
}

}  // namespace lowtide::sim
