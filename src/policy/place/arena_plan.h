// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/policy.h"
#include "trace/lifetimes.h"

// What policies have in common that give every storage of the plain step a fixed address: they only
// differ in how they pack blocks.

namespace lowtide::policy {

// Bytes that are taken from one tick to another, both included. All versions of a storage are one
// block, since in-place results stay where they are; so is the workspace of an op.
struct Block {
  std::int64_t bytes = 0;
  trace::Tick first = 0;
  trace::Tick last = 0;
  // Not valid for a workspace.
  StorageId storage;
};

// Those with bytes, in order of their first tick; the start of the step counts to its first tick.
std::vector<Block> blocks_of(const Problem& problem);

// By block: its offset.
using Offsets = std::vector<std::int64_t>;

// The end of the last block.
std::int64_t arena_bytes(const std::vector<Block>& blocks, const Offsets& offsets);

// A plan that places every value, if the arena keeps the budget.
PlanOutcome place_all(const Problem& problem, std::string policy, const std::vector<Block>& blocks,
                      const Offsets& offsets);

}  // namespace lowtide::policy
