// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/neighbourhood.h"

#include <algorithm>

namespace lowtide::sim {

EvictedNeighbourhood::EvictedNeighbourhood(const Trace& trace, const trace::Lifetimes& lifetimes,
                                           const cost::CostTable& costs, Neighbourhood kind)
    : trace_(trace),
      lifetimes_(lifetimes),
      costs_(costs),
      kind_(kind),
      evicted_(trace.values().size(), false),
      seen_(trace.values().size(), 0),
      element_(trace.values().size(), -1) {}

double EvictedNeighbourhood::own_seconds(ValueId value) const {
  return costs_.op(trace_.value(value).producer);
}

template <class Visit>
void EvictedNeighbourhood::for_each_parent(ValueId value, const Visit& visit) const {
  const Value& v = trace_.value(value);
  if (v.is_source()) return;
  for (const Use& read : trace_.op(v.producer).reads) {
    if (!read.side_effect && is_evicted(read.value)) visit(read.value);
  }
}

template <class Visit>
void EvictedNeighbourhood::for_each_child(ValueId value, const Visit& visit) const {
  for (const trace::Tick tick : lifetimes_.of(value).reads) {
    for (const Use& write : trace_.op(lifetimes_.op_at(tick)).writes) {
      if (!write.side_effect && is_evicted(write.value)) visit(write.value);
    }
  }
}

void EvictedNeighbourhood::on_evicted(ValueId value) {
  evicted_[value.slot()] = true;
  if (kind_ != Neighbourhood::kClasses) return;
  const std::int32_t element = classes_.make(own_seconds(value));
  element_[value.slot()] = element;
  const auto unite = [&](ValueId other) { classes_.unite(element, element_[other.slot()]); };
  for_each_parent(value, unite);
  for_each_child(value, unite);
}

void EvictedNeighbourhood::on_returned(ValueId value) {
  evicted_[value.slot()] = false;
  if (kind_ != Neighbourhood::kClasses) return;
  // Its class keeps its other members together although the value no longer joins them; DTR accepts
  // this, for splitting a class would cost more than the error does.
  classes_.add_weight(element_[value.slot()], -own_seconds(value));
  element_[value.slot()] = -1;
}

double EvictedNeighbourhood::seconds_around(ValueId value) {
  switch (kind_) {
    case Neighbourhood::kNone:
      return 0;
    case Neighbourhood::kExact:
      return exact_seconds(value);
    case Neighbourhood::kClasses:
      return class_seconds(value);
  }
  return 0;
}

// Ancestors through ancestors and descendants through descendants, as in the paper's e*.
double EvictedNeighbourhood::exact_seconds(ValueId value) {
  double seconds = 0;
  for (const bool upwards : {true, false}) {
    ++search_;
    open_.assign(1, value);
    seen_[value.slot()] = search_;
    while (!open_.empty()) {
      const ValueId at = open_.back();
      open_.pop_back();
      const auto visit = [&](ValueId next) {
        if (seen_[next.slot()] == search_) return;
        seen_[next.slot()] = search_;
        seconds += own_seconds(next);
        open_.push_back(next);
      };
      if (upwards) {
        for_each_parent(at, visit);
      } else {
        for_each_child(at, visit);
      }
    }
  }
  return seconds;
}

double EvictedNeighbourhood::class_seconds(ValueId value) {
  touching_.clear();
  const auto collect = [&](ValueId next) {
    touching_.push_back(classes_.find(element_[next.slot()]));
  };
  for_each_parent(value, collect);
  for_each_child(value, collect);
  // Each class counts once, however many of its members touch the value.
  std::sort(touching_.begin(), touching_.end());
  touching_.erase(std::unique(touching_.begin(), touching_.end()), touching_.end());
  double seconds = 0;
  for (const std::int32_t element : touching_) seconds += classes_.weight(element);
  return seconds;
}

}  // namespace lowtide::sim
