// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/online.h"
#include "lowtide/plan.h"
#include "sim/address_arena.h"

namespace lowtide::sim {

struct PlaceOptions {
  // Values that take less than this share of the mean seconds a byte to compute are cheap: they lie
  // at one end of the row of addresses, all others at the other.
  double cheap_below = 1;
  // A search for a row to clear looks at this many pieces at most.
  std::int64_t max_pieces = 4096;
};

// The addresses of an online run, for a policy that asks for them: a row of addresses as long as
// the budget. Where the plain step fits the budget, nobody has to go and none are kept.
class OnlinePlaces {
 public:
  OnlinePlaces(const Problem& problem, const cost::CostTable& costs, Addresses kind,
               const PlaceOptions& options);

  bool are_known() const { return arena_.has_value(); }

  // True if the value has an address, or gets one. Always true when none are kept.
  bool enter(ValueId value);
  bool enter_scratch(std::int64_t bytes);
  void end_scratch();
  void leave(ValueId value);
  void hand_over(ValueId from, ValueId to);

  std::int64_t free_beside(ValueId value) const;
  // The values to drop so that a row of that length is free; empty if there is no such row, or if
  // the policy does not make room in rows. `price` gives nothing for what has to stay.
  std::vector<ValueId> row_to_clear(std::int64_t bytes, const AddressArena::Price& price);

 private:
  AddressArena::End end_for(ValueId value) const;

  const Trace& trace_;
  const cost::CostTable& costs_;
  Addresses kind_;
  PlaceOptions options_;
  double cheap_seconds_per_byte_ = 0;
  std::optional<AddressArena> arena_;
};

}  // namespace lowtide::sim
