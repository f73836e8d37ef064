// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/slot_pools.h"

#include <algorithm>
#include <bit>
#include <map>

namespace lowtide::policy {
namespace {

using trace::Tick;

// Sizes are told apart by so many leading bits, which makes four groups to a doubling.
constexpr int kLeadingBits = 3;

// The same for all sizes of a group, and larger for larger sizes.
std::int64_t rough_size(std::int64_t bytes) {
  const auto wide = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
  const int dropped = std::max(0, static_cast<int>(std::bit_width(wide)) - kLeadingBits);
  const std::int64_t step = std::int64_t{1} << dropped;
  return (static_cast<std::int64_t>(wide) + step - 1) / step * step;
}

// Slots taken by tick, while they are counted.
class Counts {
 public:
  Counts(std::size_t pools, std::size_t ticks, std::size_t storages)
      : by_pool(pools, std::vector<std::int64_t>(ticks, 0)), last_(storages, -1) {}

  // Ticks of one storage come in order; one in which two of its values are is counted once.
  void add(StorageId storage, std::int32_t pool, Tick first, Tick last) {
    Tick& seen = last_[storage.slot()];
    for (Tick tick = std::max(first, seen + 1); tick <= last; ++tick) {
      ++by_pool[static_cast<std::size_t>(pool)][static_cast<std::size_t>(tick)];
    }
    seen = std::max(seen, last);
  }

  std::vector<std::vector<std::int64_t>> by_pool;

 private:
  std::vector<Tick> last_;
};

}  // namespace

SizeGroups::SizeGroups(const Trace& trace, const Machine& machine) {
  std::map<std::int64_t, std::int64_t> largest;
  std::vector<std::int64_t> rough;
  for (const Storage& storage : trace.storages()) {
    const std::int64_t own = cost::device_bytes(storage, machine);
    rough.push_back(rough_size(own));
    std::int64_t& most = largest[rough.back()];
    most = std::max(most, own);
  }
  std::map<std::int64_t, std::int32_t> index;
  for (const auto& [size, most] : largest) {
    index[size] = count();
    bytes.push_back(most);
  }
  for (const std::int64_t size : rough) of_storage.push_back(index[size]);
}

SlotPools::SlotPools(const Problem& problem, const trace::Lifetimes& lifetimes,
                     const cost::CostTable& costs, const std::vector<bool>& may_move,
                     const SizeGroups& groups, const std::vector<std::int32_t>& pool_of_group)
    : trace_(*problem.trace),
      groups_(groups),
      pool_of_group_(pool_of_group),
      budget_bytes_(problem.budget_bytes) {
  const auto ticks = static_cast<std::size_t>(lifetimes.end()) + 1;
  Counts counts(groups.bytes.size(), ticks, trace_.storages().size());
  for (std::size_t i = 0; i < trace_.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const trace::Lifetime& life = lifetimes.of(value);
    const StorageId storage = trace_.value(value).storage;
    const auto count = [&](Tick first, Tick last) {
      counts.add(storage, pool_of(value), first, last);
    };
    if (may_move[storage.slot()]) {
      if (life.born >= 0) count(life.born, life.born);
      for (const Tick read : life.reads) count(read, read);
    } else {
      count(std::max(life.born, 0), life.dies);
    }
  }
  for (const auto& pool : counts.by_pool) taken_.emplace_back(pool);
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    total_bytes_ += groups.bytes[i] * taken_[i].max();
  }
  std::int64_t most = 0;
  for (const std::int64_t workspace : costs.workspace_bytes) most = std::max(most, workspace);
  total_bytes_ += most;
}

std::int32_t SlotPools::pool_of(ValueId value) const {
  const std::int32_t group = groups_.of_storage[trace_.value(value).storage.slot()];
  return pool_of_group_[static_cast<std::size_t>(group)];
}

bool SlotPools::operator()(std::span<const Presence> wanted) {
  for (const Presence& presence : wanted) add(presence, 1);
  if (total_bytes_ <= budget_bytes_) return true;
  for (const Presence& presence : wanted) add(presence, -1);
  return false;
}

void SlotPools::add(const Presence& presence, std::int64_t sign) {
  if (presence.first > presence.last) return;
  const auto pool = static_cast<std::size_t>(pool_of(presence.value));
  const std::int64_t before = taken_[pool].max();
  taken_[pool].add(static_cast<std::size_t>(presence.first),
                   static_cast<std::size_t>(presence.last), sign);
  total_bytes_ += groups_.bytes[pool] * (taken_[pool].max() - before);
}

}  // namespace lowtide::policy
