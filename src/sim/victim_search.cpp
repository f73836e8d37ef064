// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/victim_search.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace lowtide::sim {
namespace {

// A value used by the very op that needs room has no age; treating it as barely aged keeps its
// score finite.
constexpr double kYoungestSeconds = 1e-9;

constexpr int kStepsPerOctave = 2;

}  // namespace

VictimIndex::VictimIndex(std::size_t value_count, VictimSearch search, std::uint64_t seed,
                         ScoreAtAge score)
    : search_(search), random_(seed), score_(std::move(score)), entries_(value_count) {}

void VictimIndex::add(ValueId value, double last_use_seconds) {
  Entry& entry = entries_[value.slot()];
  LT_CHECK(entry.position < 0, "value ", value.index, " is a candidate already");
  entry.position = static_cast<std::int32_t>(members_.size());
  entry.last_use_seconds = last_use_seconds;
  members_.push_back(value);
  if (search_ == VictimSearch::kIndexed) file(value);
}

void VictimIndex::remove(ValueId value) {
  Entry& entry = entries_[value.slot()];
  LT_CHECK(entry.position >= 0, "value ", value.index, " is no candidate");
  if (search_ == VictimSearch::kIndexed) unfile(value);
  const ValueId last = members_.back();
  members_[static_cast<std::size_t>(entry.position)] = last;
  entries_[last.slot()].position = entry.position;
  members_.pop_back();
  entry.position = -1;
}

std::int32_t VictimIndex::step_of(ValueId value) const {
  const double at_one_second = score_(value, 1.0);
  if (!(at_one_second > 0)) return std::numeric_limits<std::int32_t>::min();
  if (std::isinf(at_one_second)) return std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::floor(std::log2(at_one_second) * kStepsPerOctave));
}

void VictimIndex::file(ValueId value) {
  Entry& entry = entries_[value.slot()];
  entry.step = step_of(value);
  steps_[entry.step].emplace(entry.last_use_seconds, value);
}

void VictimIndex::unfile(ValueId value) {
  const Entry& entry = entries_[value.slot()];
  const auto step = steps_.find(entry.step);
  step->second.erase({entry.last_use_seconds, value});
  if (step->second.empty()) steps_.erase(step);
}

double VictimIndex::score(ValueId value, double now_seconds) const {
  const double age = now_seconds - entries_[value.slot()].last_use_seconds;
  return score_(value, std::max(age, kYoungestSeconds));
}

std::optional<ValueId> VictimIndex::find(double now_seconds) {
  if (members_.empty()) return std::nullopt;
  switch (search_) {
    case VictimSearch::kAll:
      return best_of_all(now_seconds);
    case VictimSearch::kSqrt:
      return best_of_sample(
          now_seconds,
          static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(members_.size())))));
    case VictimSearch::kOne:
      return members_[random_.below(members_.size())];
    case VictimSearch::kIndexed:
      return best_of_index(now_seconds);
  }
  return std::nullopt;
}

ValueId VictimIndex::best_of_all(double now_seconds) const {
  std::pair<double, ValueId> best{std::numeric_limits<double>::infinity(), members_.front()};
  for (const ValueId value : members_) {
    best = std::min(best, {score(value, now_seconds), value});
  }
  return best.second;
}

ValueId VictimIndex::best_of_sample(double now_seconds, std::size_t count) {
  std::pair<double, ValueId> best{std::numeric_limits<double>::infinity(), members_.front()};
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId value = members_[random_.below(members_.size())];
    best = std::min(best, {score(value, now_seconds), value});
  }
  return best.second;
}

ValueId VictimIndex::best_of_index(double now_seconds) {
  std::pair<double, ValueId> best{std::numeric_limits<double>::infinity(), members_.front()};
  std::vector<ValueId> moved;
  for (auto& [step, values] : steps_) {
    const ValueId oldest = values.begin()->second;
    best = std::min(best, {score(oldest, now_seconds), oldest});
    // What its neighbours cost has changed since it was filed: it belongs elsewhere by now.
    if (step_of(oldest) != step) moved.push_back(oldest);
  }
  for (const ValueId value : moved) {
    unfile(value);
    file(value);
  }
  return best.second;
}

}  // namespace lowtide::sim
