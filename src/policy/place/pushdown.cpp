// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Pushdown, the static placement of MegEngine's graph runtime. First blocks come and go in order of
// time, each in the smallest free chunk that holds it; where none does, the largest free chunk is
// widened and whatever lies above it moves up. Of that only the order counts: who lay directly
// below whom. Then every block is pushed down as far as those below it allow: its offset is the
// longest way through the blocks below it. Nothing is evicted: the answer is the size of the arena.
//
// Departure: blocks that are there throughout come first. All versions of a storage are one block,
// which is what MegEngine's chains of in-place ops come to.
//
// Limits: as best_fit. The order of the first pass is never revised.
#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/grouped.h"
#include "policy/factories.h"
#include "policy/option_reader.h"
#include "policy/place/arena_plan.h"

namespace lowtide::policy {
namespace {

constexpr std::int32_t kNobody = -1;

// The row of chunks while time goes by, each free or taken by a block.
class ChunkRow {
 public:
  explicit ChunkRow(std::size_t blocks) : chunk_of_(blocks, kNobody) {}

  void allocate(std::int32_t block, std::int64_t bytes) {
    const std::int32_t chunk = find_chunk(bytes);
    const std::int64_t rest = at(chunk).bytes - bytes;
    at(chunk).bytes = bytes;
    at(chunk).block = block;
    chunk_of_[static_cast<std::size_t>(block)] = chunk;
    if (rest > 0) insert_free_after(chunk, rest);
  }

  void release(std::int32_t block) {
    std::int32_t chunk = std::exchange(chunk_of_[static_cast<std::size_t>(block)], kNobody);
    at(chunk).block = kNobody;
    if (is_free(at(chunk).next)) absorb_next(chunk);
    if (is_free(at(chunk).previous)) {
      chunk = at(chunk).previous;
      absorb_next(chunk);
    }
    free_.emplace(at(chunk).bytes, chunk);
  }

  // The block directly below or above; kNobody at the ends. Two free chunks never meet.
  std::int32_t below(std::int32_t block) const {
    std::int32_t chunk = at(chunk_of(block)).previous;
    if (is_free(chunk)) chunk = at(chunk).previous;
    return chunk == kNobody ? kNobody : at(chunk).block;
  }
  std::int32_t above(std::int32_t block) const {
    std::int32_t chunk = at(chunk_of(block)).next;
    if (is_free(chunk)) chunk = at(chunk).next;
    return chunk == kNobody ? kNobody : at(chunk).block;
  }

 private:
  struct Chunk {
    std::int64_t bytes = 0;
    std::int32_t block = kNobody;
    std::int32_t previous = kNobody;
    std::int32_t next = kNobody;
  };

  Chunk& at(std::int32_t chunk) { return chunks_[static_cast<std::size_t>(chunk)]; }
  const Chunk& at(std::int32_t chunk) const { return chunks_[static_cast<std::size_t>(chunk)]; }
  std::int32_t chunk_of(std::int32_t block) const {
    return chunk_of_[static_cast<std::size_t>(block)];
  }
  bool is_free(std::int32_t chunk) const { return chunk != kNobody && at(chunk).block == kNobody; }

  // Takes it out of the free ones: the smallest that is enough, else the largest, widened, else a
  // new one at the upper end.
  std::int32_t find_chunk(std::int64_t bytes) {
    if (free_.empty()) return append(bytes);
    auto found = free_.lower_bound({bytes, 0});
    if (found == free_.end()) found = std::prev(found);
    const std::int32_t chunk = found->second;
    free_.erase(found);
    at(chunk).bytes = std::max(at(chunk).bytes, bytes);
    return chunk;
  }

  std::int32_t append(std::int64_t bytes) {
    const auto chunk = static_cast<std::int32_t>(chunks_.size());
    chunks_.push_back({bytes, kNobody, last_, kNobody});
    if (last_ != kNobody) at(last_).next = chunk;
    last_ = chunk;
    return chunk;
  }

  void insert_free_after(std::int32_t chunk, std::int64_t bytes) {
    const auto rest = static_cast<std::int32_t>(chunks_.size());
    chunks_.push_back({bytes, kNobody, chunk, at(chunk).next});
    if (at(chunk).next == kNobody) {
      last_ = rest;
    } else {
      at(at(chunk).next).previous = rest;
    }
    at(chunk).next = rest;
    free_.emplace(bytes, rest);
  }

  // Joins a chunk with the one above it, which leaves the free ones if it is among them.
  void absorb_next(std::int32_t chunk) {
    const std::int32_t next = at(chunk).next;
    free_.erase({at(chunk).bytes, chunk});
    free_.erase({at(next).bytes, next});
    at(chunk).bytes += at(next).bytes;
    at(chunk).next = at(next).next;
    if (at(next).next == kNobody) {
      last_ = chunk;
    } else {
      at(at(next).next).previous = chunk;
    }
  }

  std::vector<Chunk> chunks_;
  std::int32_t last_ = kNobody;
  std::set<std::pair<std::int64_t, std::int32_t>> free_;
  std::vector<std::int32_t> chunk_of_;
};

// Pairs of a block and one above it. Of two blocks that are there at the same time, a chain of such
// pairs leads from the lower to the upper one: each is next to the one that came before it, and so
// on.
using Pairs = base::Grouped<std::int32_t>::Items;

Pairs pairs_by_time(const std::vector<Block>& blocks, trace::Tick end) {
  base::Grouped<std::int32_t>::Items ends;
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ends.emplace_back(static_cast<std::size_t>(blocks[i].last), static_cast<std::int32_t>(i));
    order.push_back(static_cast<std::int32_t>(i));
  }
  const auto block = [&](std::int32_t i) -> const Block& {
    return blocks[static_cast<std::size_t>(i)];
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto rank = [&](const Block& x) {
      return std::pair(x.first, x.first == 0 && x.last == end ? 0 : 1);
    };
    return rank(block(a)) < rank(block(b));
  });
  const base::Grouped<std::int32_t> ends_at(static_cast<std::size_t>(end) + 1, ends);
  ChunkRow row(blocks.size());
  Pairs pairs;
  std::size_t next = 0;
  for (trace::Tick tick = 0; tick <= end; ++tick) {
    for (; next < order.size() && block(order[next]).first == tick; ++next) {
      const std::int32_t i = order[next];
      row.allocate(i, block(i).bytes);
      if (const std::int32_t low = row.below(i); low != kNobody) {
        pairs.emplace_back(static_cast<std::size_t>(low), i);
      }
      if (const std::int32_t high = row.above(i); high != kNobody) {
        pairs.emplace_back(static_cast<std::size_t>(i), high);
      }
    }
    for (const std::int32_t i : ends_at[static_cast<std::size_t>(tick)]) row.release(i);
  }
  return pairs;
}

// Blocks with nobody below them come first, each other one after all that are below it.
Offsets push_down(const std::vector<Block>& blocks, const Pairs& pairs) {
  const base::Grouped<std::int32_t> above(blocks.size(), pairs);
  std::vector<std::int32_t> waiting_for(blocks.size(), 0);
  for (const auto& [low, high] : pairs) ++waiting_for[static_cast<std::size_t>(high)];
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (waiting_for[i] == 0) ready.push_back(i);
  }
  Offsets offsets(blocks.size(), 0);
  for (std::size_t done = 0; done < ready.size(); ++done) {
    const std::size_t low = ready[done];
    for (const std::int32_t high : above[low]) {
      const auto i = static_cast<std::size_t>(high);
      offsets[i] = std::max(offsets[i], offsets[low] + blocks[low].bytes);
      if (--waiting_for[i] == 0) ready.push_back(i);
    }
  }
  LT_CHECK(ready.size() == blocks.size(), "nobody lies below himself");
  return offsets;
}

class Pushdown final : public Policy {
 public:
  PlanOutcome plan(const Problem& problem) const override {
    const std::vector<Block> blocks = blocks_of(problem);
    const Pairs pairs = pairs_by_time(blocks, problem.trace->lifetimes()->end());
    return place_all(problem, "pushdown", blocks, push_down(blocks, pairs));
  }
};

}  // namespace

std::unique_ptr<Policy> make_pushdown(const PolicyOptions& options) {
  OptionReader("pushdown", options).finish();
  return std::make_unique<Pushdown>();
}

}  // namespace lowtide::policy
