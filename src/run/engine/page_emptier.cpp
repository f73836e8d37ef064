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
  std::optional<std::pair<std::int64_t, std::int64_t>> gap_for(std::int64_t units,
                                                               std::int64_t page) const {
    for (auto gap = gaps_.lower_bound({units, 0}); gap != gaps_.end(); ++gap) {
      const std::int64_t its_page = page_of(gap->second);
      if (its_page != page && !emptied_.contains(its_page)) return *gap;
    }
    return std::nullopt;
  }

  // False: nothing has changed.
  bool empty(std::int64_t page, std::vector<RowMove>& moves) {
    const std::vector<std::size_t>& blocks = broken_[page].blocks;
    if (blocks.empty() || filled_.contains(page)) return false;
    const std::size_t moves_before = moves.size();
    const auto gaps_before = gaps_;
    for (const std::size_t block : blocks) {
      const bool is_tried = !gone_.contains(block) && may_move_(blocks_[block].data);
      const auto gap = is_tried ? gap_for(units_[block], page) : std::nullopt;
      if (!gap && !gone_.contains(block)) {
        moves.resize(moves_before);
        gaps_ = gaps_before;
        return false;
      }
      if (!gap) continue;
      const auto [length, first] = *gap;
      gaps_.erase(*gap);
      if (length > units_[block]) gaps_.emplace(length - units_[block], first + units_[block]);
      moves.push_back({blocks_[block].data, {first, units_[block]}});
    }
    for (const std::size_t block : blocks) gone_.insert(block);
    for (std::size_t i = moves_before; i < moves.size(); ++i) {
      filled_.insert(page_of(moves[i].to.first));
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
  // By length and place.
  std::set<std::pair<std::int64_t, std::int64_t>> gaps_;
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
