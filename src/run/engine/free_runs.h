// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <set>
#include <utility>
#include <vector>

#include "run/engine/page_layout.h"

namespace lowtide::engine {

// What is free of a row of units. Steps that repeat themselves take the same runs again and again
// and only ask whether they are free: that is known at once. The order of all free runs, by which
// places are looked for, is brought up to date when somebody asks for it.
class FreeRuns {
 public:
  // Length of a run by its place, and length and place of each. No two of them are neighbours.
  using ByPlace = std::pmr::map<std::int64_t, std::int64_t>;
  using ByLength = std::pmr::set<std::pair<std::int64_t, std::int64_t>>;

  explicit FreeRuns(std::int64_t units_per_page) : units_per_page_(units_per_page) {}

  // Units that come are not free; those that go may not be.
  void resize(std::int64_t units) { is_free_.resize(static_cast<std::size_t>(units), 0); }
  std::int64_t units() const { return static_cast<std::int64_t>(is_free_.size()); }

  bool contains(const UnitRun& run) const;
  // Requires: none of it is free.
  void add(const UnitRun& run);
  // Requires: contains(run).
  void take(const UnitRun& run);
  std::int64_t free_units() const { return free_units_; }

  const ByPlace& by_place() const;
  const ByLength& by_length() const;
  // Pages of which all is free.
  std::int64_t free_pages() const;
  // The pages that lie in a run as a whole.
  UnitRun whole_pages_of(const UnitRun& run) const;

 private:
  struct Change {
    UnitRun run;
    bool is_free;
  };

  void note(const UnitRun& run, bool is_free);
  // These keep the order.
  void catch_up() const;
  void order_anew() const;
  void join(UnitRun run) const;
  void split(const UnitRun& run) const;
  void insert(const UnitRun& run) const;
  void erase(const UnitRun& run) const;

  const std::int64_t units_per_page_;
  // By unit, 1 or 0: bytes can be searched and filled many at a time.
  std::vector<std::uint8_t> is_free_;
  std::int64_t free_units_ = 0;

  // The order as it was before these changes.
  mutable std::vector<Change> late_;
  mutable std::pmr::unsynchronized_pool_resource pool_;
  mutable ByPlace by_place_{&pool_};
  mutable ByLength by_length_{&pool_};
  mutable std::int64_t free_pages_ = 0;
};

}  // namespace lowtide::engine
