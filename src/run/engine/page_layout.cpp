// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"

namespace lowtide::engine {
namespace {

using Runs = PageLayout::Runs;

// How many blocks are looked at in all while rows are found, some 200 million in a second: a layout
// must not hold up a step for long. Where most can stay, few looks are enough or none are.
constexpr std::int64_t kFewLooks = 10'000'000;
constexpr std::int64_t kManyLooks = 150'000'000;
// So often it is tried at most, with so many looks for each two blocks: after that it is better to
// begin again.
constexpr int kTries = 20;
constexpr std::int64_t kLooksForTwo = 30;

// Of a block of so many units that was sent away so many times.
std::int64_t price_of(std::int64_t units, std::int64_t times) {
  // A sum of thousands of prices must be a number.
  constexpr std::int64_t kMostTimes = 500;
  times = 1 + std::min(times, kMostTimes);
  return units * times * times * times;
}

bool overlap(const UnitRun& one, const UnitRun& other) {
  return one.first < other.first + other.count && other.first < one.first + one.count;
}

}  // namespace

std::int64_t units_of(const std::vector<UnitRun>& runs) {
  std::int64_t units = 0;
  for (const UnitRun& run : runs) units += run.count;
  return units;
}

bool overlap(const std::vector<UnitRun>& a, const std::vector<UnitRun>& b) {
  return std::any_of(a.begin(), a.end(), [&](const UnitRun& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const UnitRun& other) { return overlap(one, other); });
  });
}

Runs gaps_between(Runs taken, std::int64_t units) {
  std::sort(taken.begin(), taken.end(),
            [](const UnitRun& a, const UnitRun& b) { return a.first < b.first; });
  Runs gaps;
  std::int64_t end = 0;
  for (const UnitRun& run : taken) {
    if (run.first > end) gaps.push_back({end, run.first - end});
    end = std::max(end, run.first + run.count);
  }
  if (end < units) gaps.push_back({end, units - end});
  return gaps;
}

PageLayout::PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now,
                       LayoutSpace space)
    : blocks_(std::move(blocks)),
      lives_(blocks_),
      space_(std::move(space)),
      gaps_(gaps_between(space_.taken, space_.units)),
      places_(blocks_.size()) {
  std::vector<std::size_t> in_the_way = put_where_they_lie(now, find_clashes(now));
  place_in_rows(in_the_way, {.seed = 0, .most_looks = std::min(kFewLooks, looks_of_a_try())});
  place_in_pieces(in_the_way);
}

PageLayout::PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now,
                       LayoutSpace space, std::uint64_t seed)
    : blocks_(std::move(blocks)),
      lives_(blocks_),
      space_(std::move(space)),
      gaps_(gaps_between(space_.taken, space_.units)),
      places_(blocks_.size()) {
  base::Random seeds(seed);
  const std::vector<bool> clashes = find_clashes(now);
  std::vector<std::size_t> waiting;
  for (int i = 0; i < kTries && looks_ < kManyLooks; ++i) {
    waiting = put_where_they_lie(now, clashes);
    // One try with thousands of blocks would take more than all may.
    place_in_rows(waiting, {.seed = seeds.next(),
                            .most_looks = std::min(looks_of_a_try(), kManyLooks - looks_)});
    if (waiting.empty()) return;
  }
  place_in_pieces(waiting);
}

// Nearly all lay there beside each other in the step that has just ended.
std::vector<std::size_t> PageLayout::put_where_they_lie(const std::vector<Runs>& now,
                                                        const std::vector<bool>& clashes) {
  for (Runs& place : places_) place.clear();
  std::vector<std::size_t> others;
  for (const std::size_t block : largest_first()) {
    if (!now[block].empty() && (!clashes[block] || is_free(block, now[block]))) {
      places_[block] = now[block];
    } else {
      others.push_back(block);
    }
  }
  sort_marks();
  return others;
}

std::int64_t PageLayout::looks_of_a_try() const {
  const auto count = static_cast<std::int64_t>(blocks_.size());
  return kLooksForTwo * count * count;
}

void PageLayout::put(std::size_t block, Runs runs) {
  const auto insert = [](std::vector<Mark>& marks, const Mark& mark) {
    marks.insert(std::lower_bound(marks.begin(), marks.end(), mark), mark);
  };
  for (const UnitRun& run : runs) {
    insert(begins_, {run.first, block});
    insert(ends_, {run.first + run.count, block});
  }
  places_[block] = std::move(runs);
}

void PageLayout::take_away(std::size_t block) {
  const auto erase = [](std::vector<Mark>& marks, const Mark& mark) {
    marks.erase(std::lower_bound(marks.begin(), marks.end(), mark));
  };
  for (const UnitRun& run : places_[block]) {
    erase(begins_, {run.first, block});
    erase(ends_, {run.first + run.count, block});
  }
  places_[block].clear();
}

void PageLayout::sort_marks() {
  begins_.clear();
  ends_.clear();
  for (std::size_t block = 0; block < places_.size(); ++block) {
    for (const UnitRun& run : places_[block]) {
      begins_.push_back({run.first, block});
      ends_.push_back({run.first + run.count, block});
    }
  }
  std::sort(begins_.begin(), begins_.end());
  std::sort(ends_.begin(), ends_.end());
}

// A block that finds no row takes one from others, which then have to find another: the largest
// first, so that what is left over is small. Who had to go before is not sent away again lightly,
// or two would do so to each other without end; a little chance keeps more of them from doing so in
// a circle.
void PageLayout::place_in_rows(std::vector<std::size_t>& waiting, const Search& search) {
  const auto is_smaller = [this](std::size_t a, std::size_t b) {
    return std::pair(blocks_[a].units, b) < std::pair(blocks_[b].units, a);
  };
  prices_.clear();
  for (const RecurringBlock& block : blocks_) prices_.push_back(block.units);
  base::Random random(search.seed);
  std::vector<std::int64_t> times_sent_away(blocks_.size(), 0);
  std::vector<std::size_t> homeless;
  std::make_heap(waiting.begin(), waiting.end(), is_smaller);
  const std::int64_t last_look = looks_ + search.most_looks;
  while (!waiting.empty()) {
    std::pop_heap(waiting.begin(), waiting.end(), is_smaller);
    const std::size_t block = waiting.back();
    waiting.pop_back();
    const Row row = cheapest_row(block);
    looks_ += static_cast<std::int64_t>(1 + gaps_.size() + begins_.size());
    if (row.first < 0 || (looks_ > last_look && !row.others.empty())) {
      homeless.push_back(block);
      continue;
    }
    for (const std::size_t other : row.others) {
      take_away(other);
      const std::int64_t price = price_of(blocks_[other].units, ++times_sent_away[other]);
      prices_[other] = price + price / 256 * static_cast<std::int64_t>(random.below(32));
      waiting.push_back(other);
      std::push_heap(waiting.begin(), waiting.end(), is_smaller);
    }
    put(block, {{row.first, blocks_[block].units}});
  }
  waiting = std::move(homeless);
}

void PageLayout::place_in_pieces(const std::vector<std::size_t>& waiting) {
  // Each takes a look at all. Where so many have no place, a few more or less do not matter.
  if (static_cast<std::int64_t>(waiting.size() * blocks_.size()) > kFewLooks) return;
  for (const std::size_t block : waiting) {
    const Runs gaps = gaps_for(block, space_.taken);
    Runs runs = find_row(block, gaps);
    if (runs.empty()) runs = find_pieces(block, gaps);
    put(block, std::move(runs));
  }
}

// Of rows that begin with a gap or where a block ends: where the others that lie there are sent
// away for the least, of several the first.
PageLayout::Row PageLayout::cheapest_row(std::size_t block) const {
  const std::int64_t units = blocks_[block].units;
  const auto meets = lives_.met_by(block);
  // What ended before the row, and what began before the end of it: the difference lies there.
  std::int64_t ended = 0;
  std::int64_t begun = 0;
  auto end = ends_.begin();
  auto begin = begins_.begin();
  Row row;
  std::int64_t best_price = std::numeric_limits<std::int64_t>::max();
  const auto look_at = [&](std::int64_t first) {
    for (; end != ends_.end() && end->unit <= first; ++end) {
      ended += meets[end->block] * prices_[end->block];
    }
    for (; begin != begins_.end() && begin->unit < first + units; ++begin) {
      begun += meets[begin->block] * prices_[begin->block];
    }
    if (begun - ended >= best_price) return;
    best_price = begun - ended;
    row.first = first;
  };
  for (const UnitRun& gap : gaps_) {
    const std::int64_t last = gap.first + gap.count - units;
    if (last < gap.first) continue;
    look_at(gap.first);
    while (best_price > 0 && end != ends_.end() && end->unit <= last) look_at(end->unit);
    if (best_price == 0) return row;
  }
  if (row.first < 0) return row;
  const UnitRun taken = {row.first, units};
  for (const Mark& mark : begins_) {
    if (mark.unit >= row.first + units) break;
    if (meets[mark.block] == 0) continue;
    const Runs& place = places_[mark.block];
    const bool is_there = std::any_of(place.begin(), place.end(),
                                      [&](const UnitRun& run) { return overlap(run, taken); });
    // Those in several runs begin several times.
    const bool is_new =
        std::find(row.others.begin(), row.others.end(), mark.block) == row.others.end();
    if (is_there && is_new) row.others.push_back(mark.block);
  }
  return row;
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
  const bool is_there = std::all_of(runs.begin(), runs.end(), [this](const UnitRun& run) {
    return run.first + run.count <= space_.units;
  });
  if (!is_there || overlap(runs, space_.taken)) return false;
  const auto meets = lives_.met_by(block);
  for (std::size_t other = 0; other < blocks_.size(); ++other) {
    if (meets[other] != 0 && overlap(runs, places_[other])) return false;
  }
  return true;
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
  take_away(block);
  put(block, std::move(found));
  return true;
}

// Where nothing lies while the block lives, in order of place.
Runs PageLayout::gaps_for(std::size_t block, Runs taken) const {
  const auto meets = lives_.met_by(block);
  for (std::size_t other = 0; other < blocks_.size(); ++other) {
    if (meets[other] == 0) continue;
    taken.insert(taken.end(), places_[other].begin(), places_[other].end());
  }
  return gaps_between(std::move(taken), space_.units);
}

Runs PageLayout::find_row(std::size_t block, const Runs& gaps) const {
  const std::int64_t units = blocks_[block].units;
  for (const UnitRun& gap : gaps) {
    if (units <= gap.count) return {{gap.first, units}};
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
