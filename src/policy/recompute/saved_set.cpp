// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/saved_set.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "solve/min_cut.h"

namespace lowtide::policy {
namespace {

using solve::MinCut;
using trace::Tick;

constexpr std::int32_t kFarthest = 100;

// Each value is an edge from its in-node to its out-node: whoever cuts it keeps it.
class CutGraph {
 public:
  CutGraph(const Trace& trace, const cost::CostTable& costs,
           const std::vector<ForwardValue>& values, double price_of_distance)
      : price_of_distance_(price_of_distance),
        trace_(trace),
        costs_(costs),
        values_(values),
        cut_(2 * values.size() + 2),
        position_of_(trace.values().size(), -1) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      position_of_[values[i].value.slot()] = static_cast<std::int32_t>(i);
    }
    find_distances();
  }

  SavedSet solve(const std::vector<bool>& may_recompute) {
    for (std::size_t i = 0; i < values_.size(); ++i) add_value(i, may_recompute[i]);
    const std::int64_t capacity = cut_.solve(source(), sink());
    LT_CHECK(capacity < MinCut::kUncuttable, "every forward value can be kept");
    SavedSet found;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool is_made_before = cut_.is_on_source_side(in(i));
      if (!is_made_before) found.recomputed.push_back(static_cast<std::int32_t>(i));
      if (!is_made_before || cut_.is_on_source_side(out(i))) continue;
      found.saved.push_back(static_cast<std::int32_t>(i));
      found.saved_bytes += costs_.value(values_[i].value);
    }
    return found;
  }

 private:
  static MinCut::Node in(std::size_t i) { return static_cast<MinCut::Node>(2 * i); }
  static MinCut::Node out(std::size_t i) { return static_cast<MinCut::Node>(2 * i + 1); }
  MinCut::Node source() const { return in(values_.size()); }
  MinCut::Node sink() const { return out(values_.size()); }
  bool is_needed_later(std::size_t i) const { return needed_until(trace_, values_[i]) >= 0; }

  // By value: the fewest ops from it to one of the backward pass. Values are in order of birth, so
  // whoever is made of one comes after it.
  void find_distances() {
    distances_.assign(values_.size(), kFarthest);
    for (std::size_t i = values_.size(); i-- > 0;) {
      if (is_needed_later(i)) distances_[i] = 1;
      for (const Use& read : trace_.reads(trace_.value(values_[i].value).producer)) {
        const std::int32_t made_of = position_of_[read.value.slot()];
        if (read.side_effect || made_of < 0) continue;
        std::int32_t& distance = distances_[static_cast<std::size_t>(made_of)];
        distance = std::min(distance, distances_[i] + 1);
      }
    }
  }

  std::int64_t price(std::size_t i) const {
    return std::llround(static_cast<double>(costs_.value(values_[i].value)) *
                        std::pow(price_of_distance_, distances_[i]));
  }

  void add_value(std::size_t i, bool may_recompute) {
    cut_.add_edge(in(i), out(i), price(i));
    if (is_needed_later(i)) cut_.add_edge(out(i), sink(), MinCut::kUncuttable);
    for (const Use& read : trace_.reads(trace_.value(values_[i].value).producer)) {
      if (read.side_effect) continue;
      const std::int32_t made_of = position_of_[read.value.slot()];
      if (made_of < 0) continue;
      cut_.add_edge(out(static_cast<std::size_t>(made_of)), in(i), MinCut::kUncuttable);
    }
    // Values that are there anyway need nobody to keep them and are not in the graph, so that only
    // what must not be computed again hangs on the source.
    if (!may_recompute) cut_.add_edge(source(), in(i), MinCut::kUncuttable);
  }

  const double price_of_distance_;
  const Trace& trace_;
  const cost::CostTable& costs_;
  const std::vector<ForwardValue>& values_;
  MinCut cut_;
  std::vector<std::int32_t> position_of_;
  std::vector<std::int32_t> distances_;
};

}  // namespace

Tick needed_until(const Trace& trace, const ForwardValue& value) {
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  const trace::Lifetime& life = lifetimes.of(value.value);
  if (life.at_end) return lifetimes.end();
  return value.first_later <= lifetimes.end() ? life.last_read() : -1;
}

SavedSet find_saved_set(const Trace& trace, const cost::CostTable& costs,
                        const std::vector<ForwardValue>& values,
                        const std::vector<bool>& may_recompute, double price_of_distance) {
  return CutGraph(trace, costs, values, price_of_distance).solve(may_recompute);
}

}  // namespace lowtide::policy
