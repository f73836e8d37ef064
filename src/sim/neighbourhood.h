// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/online.h"
#include "lowtide/trace.h"
#include "solve/union_find.h"
#include "trace/lifetimes.h"

namespace lowtide::sim {

// What the evicted values around a resident one cost to compute: the part of DTR's score that looks
// beyond the value itself (ICLR'21, section 2.2 and appendix C). The runner reports every eviction
// and return.
class EvictedNeighbourhood {
 public:
  EvictedNeighbourhood(const Trace& trace, const trace::Lifetimes& lifetimes,
                       const cost::CostTable& costs, Neighbourhood kind);

  void on_evicted(ValueId value);
  void on_returned(ValueId value);

  double seconds_around(ValueId value);

 private:
  template <class Visit>
  void for_each_parent(ValueId value, const Visit& visit) const;
  template <class Visit>
  void for_each_child(ValueId value, const Visit& visit) const;
  double own_seconds(ValueId value) const;
  bool is_evicted(ValueId value) const { return evicted_[value.slot()]; }

  double exact_seconds(ValueId value);
  double class_seconds(ValueId value);

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  Neighbourhood kind_;
  std::vector<bool> evicted_;

  // kExact: a search marks what it has seen with its own number, so that nothing is cleared.
  std::vector<std::int32_t> seen_;
  std::int32_t search_ = 0;
  std::vector<ValueId> open_;

  // kClasses: the class element of each evicted value.
  solve::WeightedUnionFind classes_;
  std::vector<std::int32_t> element_;
  std::vector<std::int32_t> touching_;
};

}  // namespace lowtide::sim
