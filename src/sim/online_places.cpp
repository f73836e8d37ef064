// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/online_places.h"

#include "plan/bounds.h"

namespace lowtide::sim {
namespace {

// Over all values that ops make, each with the time of its whole op.
double mean_seconds_per_byte(const Trace& trace, const cost::CostTable& costs) {
  double seconds = 0;
  double bytes = 0;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    if (trace.values()[i].is_source()) continue;
    seconds += costs.op(trace.values()[i].producer);
    bytes += static_cast<double>(costs.value_bytes[i]);
  }
  return bytes > 0 ? seconds / bytes : 0;
}

}  // namespace

OnlinePlaces::OnlinePlaces(const Problem& problem, const cost::CostTable& costs, Addresses kind,
                           const PlaceOptions& options)
    : trace_(*problem.trace), costs_(costs), kind_(kind), options_(options) {
  if (kind == Addresses::kNone) return;
  const plan::MemoryBounds bounds = plan::memory_bounds(trace_, problem.machine);
  if (bounds.plain_peak_bytes <= problem.budget_bytes) return;
  cheap_seconds_per_byte_ = options.cheap_below * mean_seconds_per_byte(trace_, costs);
  arena_.emplace(trace_.values().size(), problem.budget_bytes);
}

AddressArena::End OnlinePlaces::end_for(ValueId value) const {
  const OpId producer = trace_.value(value).producer;
  const bool is_cheap =
      producer.valid() &&
      costs_.op(producer) < cheap_seconds_per_byte_ * static_cast<double>(costs_.value(value));
  return is_cheap ? AddressArena::End::kHigh : AddressArena::End::kLow;
}

bool OnlinePlaces::enter(ValueId value) {
  if (!arena_ || arena_->has_address(value)) return true;
  return kind_ == Addresses::kRows ? arena_->place_from(end_for(value), value, costs_.value(value))
                                   : arena_->place_best(value, costs_.value(value));
}

bool OnlinePlaces::enter_scratch(std::int64_t bytes) {
  return !arena_ || arena_->place_scratch(bytes);
}

void OnlinePlaces::end_scratch() {
  if (arena_) arena_->end_scratch();
}

void OnlinePlaces::leave(ValueId value) {
  if (arena_) arena_->release(value);
}

void OnlinePlaces::hand_over(ValueId from, ValueId to) {
  if (arena_) arena_->hand_over(from, to);
}

std::int64_t OnlinePlaces::free_beside(ValueId value) const {
  return arena_ ? arena_->free_beside(value) : 0;
}

std::vector<ValueId> OnlinePlaces::row_to_clear(std::int64_t bytes,
                                                const AddressArena::Price& price) {
  if (!arena_ || kind_ != Addresses::kRows) return {};
  return arena_->cheapest_row(bytes, static_cast<std::size_t>(options_.max_pieces), price)
      .value_or(std::vector<ValueId>{});
}

}  // namespace lowtide::sim
