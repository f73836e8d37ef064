// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/free_runs.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace lowtide::engine {
namespace {

// After so many changes it is quicker to look through all units than to go through the changes.
constexpr std::size_t kMostChanges = 256;

}  // namespace

bool FreeRuns::contains(const UnitRun& run) const {
  if (run.first + run.count > units()) return false;
  const std::uint8_t* first = is_free_.data() + run.first;
  return std::memchr(first, 0, static_cast<std::size_t>(run.count)) == nullptr;
}

void FreeRuns::add(const UnitRun& run) {
  note(run, true);
  free_units_ += run.count;
}

void FreeRuns::take(const UnitRun& run) {
  note(run, false);
  free_units_ -= run.count;
}

void FreeRuns::note(const UnitRun& run, bool is_free) {
  std::memset(is_free_.data() + run.first, is_free ? 1 : 0, static_cast<std::size_t>(run.count));
  if (late_.size() <= kMostChanges) late_.push_back({run, is_free});
}

const FreeRuns::ByPlace& FreeRuns::by_place() const {
  catch_up();
  return by_place_;
}

const FreeRuns::ByLength& FreeRuns::by_length() const {
  catch_up();
  return by_length_;
}

std::int64_t FreeRuns::free_pages() const {
  catch_up();
  return free_pages_;
}

UnitRun FreeRuns::whole_pages_of(const UnitRun& run) const {
  const std::int64_t first = (run.first + units_per_page_ - 1) / units_per_page_ * units_per_page_;
  const std::int64_t end = (run.first + run.count) / units_per_page_ * units_per_page_;
  return {first, std::max<std::int64_t>(0, end - first)};
}

void FreeRuns::catch_up() const {
  if (late_.size() > kMostChanges) {
    order_anew();
  } else {
    for (const Change& change : late_) {
      if (change.is_free) {
        join(change.run);
      } else {
        split(change.run);
      }
    }
  }
  late_.clear();
}

void FreeRuns::order_anew() const {
  by_place_.clear();
  by_length_.clear();
  free_pages_ = 0;
  auto first = is_free_.begin();
  while ((first = std::find(first, is_free_.end(), 1)) != is_free_.end()) {
    const auto end = std::find(first, is_free_.end(), 0);
    insert({first - is_free_.begin(), end - first});
    first = end;
  }
}

void FreeRuns::join(UnitRun run) const {
  const auto after = by_place_.lower_bound(run.first);
  if (after != by_place_.end() && after->first == run.first + run.count) {
    const UnitRun next = {after->first, after->second};
    run.count += next.count;
    erase(next);
  }
  const auto place = by_place_.lower_bound(run.first);
  if (place != by_place_.begin()) {
    const UnitRun before = {std::prev(place)->first, std::prev(place)->second};
    if (before.first + before.count == run.first) {
      erase(before);
      run = {before.first, before.count + run.count};
    }
  }
  insert(run);
}

void FreeRuns::split(const UnitRun& run) const {
  const auto found = std::prev(by_place_.upper_bound(run.first));
  const UnitRun whole = {found->first, found->second};
  erase(whole);
  const UnitRun before = {whole.first, run.first - whole.first};
  const UnitRun after = {run.first + run.count, whole.first + whole.count - run.first - run.count};
  if (before.count > 0) insert(before);
  if (after.count > 0) insert(after);
}

void FreeRuns::insert(const UnitRun& run) const {
  by_place_.emplace(run.first, run.count);
  by_length_.emplace(run.count, run.first);
  free_pages_ += whole_pages_of(run).count / units_per_page_;
}

void FreeRuns::erase(const UnitRun& run) const {
  by_place_.erase(run.first);
  by_length_.erase({run.count, run.first});
  free_pages_ -= whole_pages_of(run).count / units_per_page_;
}

}  // namespace lowtide::engine
