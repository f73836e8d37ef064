// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/storages_to_move.h"

namespace lowtide::policy {

std::vector<bool> storages_to_move(const Problem& problem) {
  const Trace& trace = *problem.trace;
  std::vector<bool> moved(trace.storages().size(), false);
  if (problem.machine.tiers.empty()) return moved;
  std::int64_t left = problem.machine.tiers.front().capacity_bytes;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Storage& storage = trace.storages()[i];
    if (storage.pinned || storage.bytes > left) continue;
    left -= storage.bytes;
    moved[i] = true;
  }
  return moved;
}

}  // namespace lowtide::policy
