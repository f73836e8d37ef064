// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Static placement by size: every block of the plain step, the largest first, goes to the lowest
// address at which it meets no block that is there at the same time. A heuristic that many runtimes
// of neural nets have (as in Pisarchyk and Lee, Efficient memory management for deep neural net
// inference, 2020). Nothing is evicted: the answer is the size of the arena, of which the bytes in
// use at once are the lower bound.
//
// Departures: blocks that are there throughout lie at the bottom, since they are in everyone's way
// wherever they are. Blocks beyond the `searched` largest are stacked on what lies below them at
// that time, without a look at holes, so that long steps are not searched quadratically.
//
// Limits: needs all lifetimes beforehand, and eager torch has no use for the addresses.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "policy/factories.h"
#include "policy/option_reader.h"
#include "policy/place/arena_plan.h"
#include "solve/skyline.h"

namespace lowtide::policy {
namespace {

class Packer {
 public:
  Packer(const std::vector<Block>& blocks, trace::Tick end)
      : blocks_(blocks),
        end_(end),
        offsets_(blocks.size(), 0),
        skyline_(static_cast<std::size_t>(end) + 1) {}

  Offsets pack(std::size_t searched) {
    std::vector<std::size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return rank(blocks_[a]) < rank(blocks_[b]);
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Block& block = blocks_[order[i]];
      place(order[i], is_always_there(block) || i >= searched ? on_top(block) : in_hole(block));
    }
    return std::move(offsets_);
  }

 private:
  bool is_always_there(const Block& block) const { return block.first == 0 && block.last == end_; }

  std::tuple<bool, std::int64_t, trace::Tick> rank(const Block& block) const {
    return {!is_always_there(block), -block.bytes, block.first - block.last};
  }

  std::int64_t on_top(const Block& block) const {
    return skyline_.highest(static_cast<std::size_t>(block.first),
                            static_cast<std::size_t>(block.last));
  }

  // The lowest offset at which it meets nobody.
  std::int64_t in_hole(const Block& block) const {
    std::int64_t lowest = always_there_bytes_;
    for (const std::size_t i : by_offset_) {
      const Block& other = blocks_[i];
      if (other.last < block.first || block.last < other.first) continue;
      if (offsets_[i] - lowest >= block.bytes) break;
      lowest = std::max(lowest, offsets_[i] + other.bytes);
    }
    return lowest;
  }

  void place(std::size_t i, std::int64_t offset) {
    const Block& block = blocks_[i];
    offsets_[i] = offset;
    const std::int64_t end = offset + block.bytes;
    skyline_.raise(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.last),
                   end);
    if (is_always_there(block)) {
      always_there_bytes_ = end;
      return;
    }
    const auto above = std::upper_bound(
        by_offset_.begin(), by_offset_.end(), offset,
        [this](std::int64_t at, std::size_t other) { return at < offsets_[other]; });
    by_offset_.insert(above, i);
  }

  const std::vector<Block>& blocks_;
  trace::Tick end_;
  Offsets offsets_;
  solve::Skyline skyline_;
  std::int64_t always_there_bytes_ = 0;
  // The others that have a place.
  std::vector<std::size_t> by_offset_;
};

class BestFit final : public Policy {
 public:
  explicit BestFit(std::int64_t searched) : searched_(static_cast<std::size_t>(searched)) {}

  PlanOutcome plan(const Problem& problem) const override {
    const std::vector<Block> blocks = blocks_of(problem);
    Packer packer(blocks, problem.trace->lifetimes()->end());
    return place_all(problem, "best_fit", blocks, packer.pack(searched_));
  }

 private:
  std::size_t searched_;
};

}  // namespace

std::unique_ptr<Policy> make_best_fit(const PolicyOptions& options) {
  OptionReader reader("best_fit", options);
  const std::int64_t searched = reader.integer("searched", 8192, 0, 1LL << 40);
  reader.finish();
  return std::make_unique<BestFit>(searched);
}

}  // namespace lowtide::policy
