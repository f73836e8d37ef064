// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_emptier.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lowtide::engine {
namespace {

constexpr std::size_t kMostMoves = 128;

// Free units in a row, by length and place.
using Gap = std::pair<std::int64_t, std::int64_t>;

// A page that is in use, but not all of it.
struct BrokenPage {
  std::vector<std::size_t> blocks;
  // Units of these blocks, with what of them lies in other pages.
  std::int64_t moved = 0;
};

class PageEmptier {
 public:
  PageEmptier(std::int64_t units_per_page, const std::vector<UnitRun>& free,
              const std::vector<RowBlock>& blocks, const std::function<bool(void*)>& may_move)
      : units_per_page_(units_per_page), blocks_(blocks), may_move_(may_move) {
    for (const UnitRun& run : free) add_gaps(run);
    for (std::size_t i = 0; i < blocks.size(); ++i) add_block(i);
  }

  std::vector<RowMove> make(std::int64_t pages) {
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (const auto& [page, broken] : broken_) order.emplace_back(broken.moved, page);
    std::sort(order.begin(), order.end());
    std::vector<RowMove> moves;
    for (const auto& [moved, page] : order) {
      if (pages == 0 || moves.size() > kMostMoves) break;
      if (empty(page, moves)) --pages;
    }
    return pages == 0 ? moves : std::vector<RowMove>();
  }

 private:
  // What is free in pages that are in use.
  void add_gaps(const UnitRun& run) {
    const std::int64_t end = run.first + run.count;
    for (std::int64_t first = run.first; first < end;) {
      const std::int64_t page = first / units_per_page_;
      const std::int64_t page_end = std::min(end, (page + 1) * units_per_page_);
      const bool is_whole = page_end - first == units_per_page_;
      if (!is_whole) {
        broken_.try_emplace(page);
        gaps_.emplace(page_end - first, first);
      }
      first = page_end;
    }
  }

  void add_block(std::size_t block) {
    std::set<std::int64_t> pages;
    for (const UnitRun& run : *blocks_[block].runs) {
      for (std::int64_t page = run.first / units_per_page_;
           page <= (run.first + run.count - 1) / units_per_page_; ++page) {
        if (broken_.contains(page)) pages.insert(page);
      }
    }
    const std::int64_t units = units_of(*blocks_[block].runs);
    units_.push_back(units);
    for (const std::int64_t page : pages) {
      broken_[page].blocks.push_back(block);
      broken_[page].moved += units;
    }
  }

  std::int64_t page_of(std::int64_t unit) const { return unit / units_per_page_; }

  // The shortest gap that is long enough and not in this page nor in one that is to be empty.
  std::optional<Gap> gap_for(std::int64_t units, std::int64_t page) const {
    for (auto gap = gaps_.lower_bound({units, 0}); gap != gaps_.end(); ++gap) {
      const std::int64_t its_page = page_of(gap->second);
      if (its_page != page && !emptied_.contains(its_page)) return *gap;
    }
    return std::nullopt;
  }

  void take(const Gap& gap, std::int64_t units) {
    const auto [length, first] = gap;
    gaps_.erase(gap);
    if (length > units) gaps_.emplace(length - units, first + units);
  }
  void give_back(const Gap& gap, std::int64_t units) {
    const auto [length, first] = gap;
    if (length > units) gaps_.erase({length - units, first + units});
    gaps_.insert(gap);
  }

  // False: nothing has changed.
  bool empty(std::int64_t page, std::vector<RowMove>& moves) {
    const std::vector<std::size_t>& blocks = broken_[page].blocks;
    if (blocks.empty() || filled_.contains(page)) return false;
    std::vector<std::size_t> leaving;
    for (const std::size_t block : blocks) {
      if (gone_.contains(block)) continue;
      if (!may_move_(blocks_[block].data)) return false;
      leaving.push_back(block);
    }
    std::vector<Gap> taken;
    for (const std::size_t block : leaving) {
      const auto gap = gap_for(units_[block], page);
      if (!gap) break;
      take(*gap, units_[block]);
      taken.push_back(*gap);
    }
    if (taken.size() < leaving.size()) {
      // The last first, which may be what an earlier one left over.
      while (!taken.empty()) {
        give_back(taken.back(), units_[leaving[taken.size() - 1]]);
        taken.pop_back();
      }
      return false;
    }
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      moves.push_back({blocks_[leaving[i]].data, {taken[i].second, units_[leaving[i]]}});
      gone_.insert(leaving[i]);
      filled_.insert(page_of(taken[i].second));
    }
    emptied_.insert(page);
    return true;
  }

  const std::int64_t units_per_page_;
  const std::vector<RowBlock>& blocks_;
  const std::function<bool(void*)>& may_move_;
  // By block.
  std::vector<std::int64_t> units_;
  std::map<std::int64_t, BrokenPage> broken_;
  std::set<Gap> gaps_;
  // Blocks that are to go, pages that they go to, and pages that become empty.
  std::set<std::size_t> gone_;
  std::set<std::int64_t> filled_;
  std::set<std::int64_t> emptied_;
};

}  // namespace

std::vector<RowMove> empty_pages(std::int64_t pages, std::int64_t units_per_page,
                                 const std::vector<UnitRun>& free,
                                 const std::vector<RowBlock>& blocks,
                                 const std::function<bool(void*)>& may_move) {
  if (pages <= 0) return {};
  return PageEmptier(units_per_page, free, blocks, may_move).make(pages);
}

}  // namespace lowtide::engine
