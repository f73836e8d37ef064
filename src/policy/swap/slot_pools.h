// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/fetch_ahead.h"
#include "solve/range_max.h"
#include "trace/lifetimes.h"

// The device as SwapAdvisor has it: pools of slots, all slots of a pool of one size, and every
// storage belongs to a pool. A pool has as many slots as are ever taken at once, so pools that are
// full at different times cost more than their storages would together.

namespace lowtide::policy {

// Storages by size: those whose sizes differ by less than a quarter or so are one group.
struct SizeGroups {
  SizeGroups(const Trace& trace, const Machine& machine);

  std::int32_t count() const { return static_cast<std::int32_t>(bytes.size()); }

  // By group, in order of size: the largest of it.
  std::vector<std::int64_t> bytes;
  // By storage.
  std::vector<std::int32_t> of_storage;
};

// Room in pools below a budget, beside the largest workspace of all ops.
class SlotPools {
 public:
  // `pool_of_group`: for each group the one whose slots its storages take, itself or a larger one.
  // Storages that `may_move` take slots only while ops use them, until somebody takes room for
  // more; others do so for as long as they exist.
  SlotPools(const Problem& problem, const trace::Lifetimes& lifetimes, const cost::CostTable& costs,
            const std::vector<bool>& may_move, const SizeGroups& groups,
            const std::vector<std::int32_t>& pool_of_group);

  std::int64_t total_bytes() const { return total_bytes_; }
  std::int32_t pool_of(ValueId value) const;
  // Takes slots for all of these, or none if the pools would pass the budget.
  bool operator()(std::span<const Presence> wanted);

 private:
  void add(const Presence& presence, std::int64_t sign);

  const Trace& trace_;
  const SizeGroups& groups_;
  const std::vector<std::int32_t>& pool_of_group_;
  std::int64_t budget_bytes_;
  // By group: slots taken at each tick.
  std::vector<solve::RangeMax> taken_;
  std::int64_t total_bytes_ = 0;
};

}  // namespace lowtide::policy
