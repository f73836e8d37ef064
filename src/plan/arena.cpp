// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/arena.h"

#include <iterator>

#include "base/check.h"
#include "cost/op_cost.h"

namespace lowtide::plan {

using Kind = Violation::Kind;

Arena::Arena(const Problem& problem, const Plan& plan, Findings& findings)
    : problem_(problem), findings_(findings) {
  for (const Action& action : plan.actions) {
    const auto* placed = std::get_if<Place>(&action);
    if (placed != nullptr && placed->offset_bytes) place(placed->value, *placed->offset_bytes);
  }
}

void Arena::place(ValueId value, std::int64_t offset) {
  const std::int64_t bytes = bytes_of(value);
  const std::int64_t budget = problem_.budget_bytes;
  if (bytes > budget || offset > budget - bytes) {
    const Trace& trace = *problem_.trace;
    findings_.add({Kind::kOverBudget, trace.value(value).producer, value,
                   base::concat(trace.value_name(value), " is placed at offset ", offset, " with ",
                                bytes, " bytes, which ends beyond the budget of ", budget)});
    return;
  }
  offsets_.resize(problem_.trace->values().size(), -1);
  offsets_[value.slot()] = offset;
}

std::int64_t Arena::bytes_of(ValueId value) const {
  return cost::device_bytes(problem_.trace->storage_of(value), problem_.machine);
}

void Arena::enter(ValueId value, OpId position) {
  if (offsets_.empty() || offsets_[value.slot()] < 0) return;
  const std::int64_t begin = offsets_[value.slot()];
  const std::int64_t end = begin + bytes_of(value);
  if (begin == end) return;
  const auto next = taken_.lower_bound(begin);
  if (next != taken_.end() && next->first < end) {
    report(value, next->second.value, position);
    return;
  }
  if (next != taken_.begin() && std::prev(next)->second.end > begin) {
    report(value, std::prev(next)->second.value, position);
    return;
  }
  taken_.emplace_hint(next, begin, Extent{end, value});
}

void Arena::leave(ValueId value) {
  if (offsets_.empty() || offsets_[value.slot()] < 0) return;
  const auto found = taken_.find(offsets_[value.slot()]);
  if (found != taken_.end() && found->second.value == value) taken_.erase(found);
}

void Arena::report(ValueId value, ValueId other, OpId position) {
  const Trace& trace = *problem_.trace;
  findings_.add(
      {Kind::kOverlap, position, value,
       base::concat(trace.value_name(value), " at offset ", offsets_[value.slot()], " overlaps ",
                    trace.value_name(other), " at offset ", offsets_[other.slot()],
                    " in the tick of ", trace.op_name(position))});
}

}  // namespace lowtide::plan
