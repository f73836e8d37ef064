// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_layout.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace lowtide::engine {
namespace {

using Runs = PageLayout::Runs;

bool is_alive_at(const RecurringBlock& block, int event) {
  if (block.begin < block.end) return block.begin <= event && event < block.end;
  return event >= block.begin || event < block.end;
}

// Of two spans of time one begins in the other, or they have nothing in common.
bool live_together(const RecurringBlock& a, const RecurringBlock& b) {
  return is_alive_at(a, b.begin) || is_alive_at(b, a.begin);
}

bool overlap(const Runs& a, const Runs& b) {
  for (const UnitRun& one : a) {
    for (const UnitRun& other : b) {
      if (one.first < other.first + other.count && other.first < one.first + one.count) return true;
    }
  }
  return false;
}

}  // namespace

PageLayout::PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now,
                       LayoutSpace space)
    : blocks_(std::move(blocks)), space_(std::move(space)), places_(blocks_.size()) {
  std::vector<std::size_t> in_the_way;
  for (const std::size_t block : largest_first()) {
    if (is_free(block, now[block])) {
      places_[block] = now[block];
    } else {
      in_the_way.push_back(block);
    }
  }
  for (const std::size_t block : in_the_way) {
    const Runs gaps = gaps_for(block, space_.taken);
    places_[block] = find_row(block, gaps);
    if (places_[block].empty()) places_[block] = find_pieces(block, gaps);
  }
}

std::vector<std::size_t> PageLayout::largest_first() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].is_known()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return blocks_[a].units > blocks_[b].units;
  });
  return order;
}

bool PageLayout::is_free(std::size_t block, const Runs& runs) const {
  if (overlap(runs, space_.taken)) return false;
  for (std::size_t other = 0; other < blocks_.size(); ++other) {
    if (places_[other].empty() || !live_together(blocks_[block], blocks_[other])) continue;
    if (overlap(runs, places_[other])) return false;
  }
  return true;
}

bool PageLayout::move_elsewhere(std::size_t block, const Runs& taken) {
  Runs all_taken = space_.taken;
  all_taken.insert(all_taken.end(), taken.begin(), taken.end());
  Runs found = find_row(block, gaps_for(block, std::move(all_taken)));
  if (found.empty()) return false;
  places_[block] = std::move(found);
  return true;
}

// Where nothing lies while the block lives, in order of place.
Runs PageLayout::gaps_for(std::size_t block, Runs taken) const {
  for (std::size_t other = 0; other < blocks_.size(); ++other) {
    if (other == block || places_[other].empty()) continue;
    if (!live_together(blocks_[block], blocks_[other])) continue;
    taken.insert(taken.end(), places_[other].begin(), places_[other].end());
  }
  std::sort(taken.begin(), taken.end(),
            [](const UnitRun& a, const UnitRun& b) { return a.first < b.first; });
  Runs gaps;
  std::int64_t end = 0;
  for (const UnitRun& run : taken) {
    if (run.first > end) gaps.push_back({end, run.first - end});
    end = std::max(end, run.first + run.count);
  }
  if (end < space_.units) gaps.push_back({end, space_.units - end});
  return gaps;
}

Runs PageLayout::find_row(std::size_t block, const Runs& gaps) const {
  const std::int64_t units = blocks_[block].units;
  const bool is_whole = units % space_.units_per_page == 0;
  for (const UnitRun& gap : gaps) {
    const std::int64_t first =
        is_whole ? base::round_up(gap.first, space_.units_per_page) : gap.first;
    if (first + units <= gap.first + gap.count) return {{first, units}};
  }
  return {};
}

Runs PageLayout::find_pieces(std::size_t block, const Runs& gaps) const {
  std::int64_t units = blocks_[block].units;
  Runs runs;
  for (const UnitRun& gap : gaps) {
    const std::int64_t first = base::round_up(gap.first, space_.units_per_page);
    const std::int64_t end = gap.first + gap.count;
    const std::int64_t whole = (end - first) / space_.units_per_page * space_.units_per_page;
    const std::int64_t count = first + units <= end ? units : whole;
    if (count <= 0) continue;
    runs.push_back({first, count});
    units -= count;
    if (units == 0) return runs;
  }
  return {};
}

}  // namespace lowtide::engine
