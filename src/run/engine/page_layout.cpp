// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_layout.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace lowtide::engine {
namespace {

using Runs = PageLayout::Runs;

// So many runs at most are looked at while all find a place, which takes a few tenths of a second:
// a layout must not hold up a step for long.
constexpr std::int64_t kMostLooks = 3'000'000;

bool is_alive_at(const RecurringBlock& block, int event) {
  if (block.begin < block.end) return block.begin <= event && event < block.end;
  return event >= block.begin || event < block.end;
}

// Of two spans of time one begins in the other, or they have nothing in common.
bool live_together(const RecurringBlock& a, const RecurringBlock& b) {
  return is_alive_at(a, b.begin) || is_alive_at(b, a.begin);
}

// More than all blocks together, however often they were sent away; and thousands of it can be
// added.
constexpr std::int64_t kNotForSale = std::int64_t{1} << 46;

bool overlap(const UnitRun& one, const UnitRun& other) {
  return one.first < other.first + other.count && other.first < one.first + one.count;
}

// What it takes to have a row of units: the prices of all runs that have something of it.
class PricedRuns {
 public:
  struct Offer {
    std::int64_t first;
    std::int64_t price;
  };

  PricedRuns() { ends_.emplace_back(0, 0); }
  void add(const UnitRun& run, std::int64_t price) {
    starts_.emplace_back(run.first, price);
    ends_.emplace_back(run.first + run.count, price);
  }
  // Of rows that begin where a run ends, or with the page after that, and end before `end`: the
  // cheapest, of several the first. To be called when all are there.
  Offer cheapest(std::int64_t units, std::int64_t multiple, std::int64_t end) {
    std::sort(starts_.begin(), starts_.end());
    std::sort(ends_.begin(), ends_.end());
    Offer best = {0, kNotForSale};
    std::int64_t ended = 0;
    std::int64_t begun = 0;
    auto next_end = ends_.begin();
    auto next_start = starts_.begin();
    for (const auto& [place, own_price] : ends_) {
      const std::int64_t first = base::round_up(place, multiple);
      if (first + units > end) break;
      for (; next_end != ends_.end() && next_end->first <= first; ++next_end) {
        ended += next_end->second;
      }
      for (; next_start != starts_.end() && next_start->first < first + units; ++next_start) {
        begun += next_start->second;
      }
      if (begun - ended < best.price) best = {first, begun - ended};
      if (best.price == 0) break;
    }
    return best;
  }

 private:
  using Prices = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Prices starts_;
  Prices ends_;
};

}  // namespace

bool overlap(const std::vector<UnitRun>& a, const std::vector<UnitRun>& b) {
  return std::any_of(a.begin(), a.end(), [&](const UnitRun& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const UnitRun& other) { return overlap(one, other); });
  });
}

PageLayout::PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now,
                       LayoutSpace space)
    : blocks_(std::move(blocks)), space_(std::move(space)), places_(blocks_.size()) {
  note_meetings();
  std::vector<std::size_t> in_the_way;
  for (const std::size_t block : largest_first()) {
    if (is_free(block, now[block])) {
      places_[block] = now[block];
    } else {
      in_the_way.push_back(block);
    }
  }
  place_in_rows(in_the_way);
  for (const std::size_t block : in_the_way) {
    if (!places_[block].empty()) continue;
    const Runs gaps = gaps_for(block, space_.taken);
    places_[block] = find_row(block, gaps);
    if (places_[block].empty()) places_[block] = find_pieces(block, gaps);
  }
}

// A block that finds no row takes one from others, which then have to find another: the largest
// first, so that what is left over is small. Who had to go before is not sent away again lightly,
// or two would do so to each other without end.
void PageLayout::place_in_rows(std::vector<std::size_t>& waiting) {
  const auto is_smaller = [this](std::size_t a, std::size_t b) {
    return std::pair(blocks_[a].units, b) < std::pair(blocks_[b].units, a);
  };
  std::vector<std::int64_t> times_sent_away(blocks_.size(), 0);
  std::vector<std::size_t> homeless;
  std::make_heap(waiting.begin(), waiting.end(), is_smaller);
  for (std::int64_t looks = 0; !waiting.empty();) {
    std::pop_heap(waiting.begin(), waiting.end(), is_smaller);
    const std::size_t block = waiting.back();
    waiting.pop_back();
    const Row row = cheapest_row(block, times_sent_away);
    looks += static_cast<std::int64_t>(space_.taken.size() + meetings_[block].size());
    if (row.first < 0 || (looks > kMostLooks && !row.others.empty())) {
      homeless.push_back(block);
      continue;
    }
    for (const std::size_t other : row.others) {
      places_[other].clear();
      ++times_sent_away[other];
      waiting.push_back(other);
      std::push_heap(waiting.begin(), waiting.end(), is_smaller);
    }
    places_[block] = {{row.first, blocks_[block].units}};
  }
  waiting = std::move(homeless);
}

// Where the fewest units of others lie, of those that may be sent away. Negative: nowhere.
PageLayout::Row PageLayout::cheapest_row(std::size_t block,
                                         const std::vector<std::int64_t>& times_sent_away) const {
  const std::int64_t units = blocks_[block].units;
  PricedRuns priced;
  for (const UnitRun& run : space_.taken) priced.add(run, kNotForSale);
  for (const std::size_t other : meetings_[block]) {
    const std::int64_t price = blocks_[other].units * (1 + times_sent_away[other]);
    for (const UnitRun& run : places_[other]) priced.add(run, price);
  }
  const std::int64_t multiple = units % space_.units_per_page == 0 ? space_.units_per_page : 1;
  const PricedRuns::Offer offer = priced.cheapest(units, multiple, space_.units);
  if (offer.price >= kNotForSale) return {-1, {}};
  Row row = {offer.first, {}};
  const UnitRun taken = {row.first, units};
  for (const std::size_t other : meetings_[block]) {
    const Runs& place = places_[other];
    const bool is_there = std::any_of(place.begin(), place.end(),
                                      [&](const UnitRun& run) { return overlap(run, taken); });
    if (is_there) row.others.push_back(other);
  }
  return row;
}

void PageLayout::note_meetings() {
  meetings_.resize(blocks_.size());
  for (std::size_t a = 0; a < blocks_.size(); ++a) {
    if (!blocks_[a].is_known()) continue;
    for (std::size_t b = 0; b < a; ++b) {
      if (!blocks_[b].is_known() || !live_together(blocks_[a], blocks_[b])) continue;
      meetings_[a].push_back(b);
      meetings_[b].push_back(a);
    }
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
  const std::vector<std::size_t>& others = meetings_[block];
  return std::none_of(others.begin(), others.end(),
                      [&](std::size_t other) { return overlap(runs, places_[other]); });
}

bool PageLayout::is_complete() const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].is_known() && places_[i].empty()) return false;
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
  for (const std::size_t other : meetings_[block]) {
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
