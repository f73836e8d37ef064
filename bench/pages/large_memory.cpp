// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "large_memory.h"

#include <ctime>

namespace lowtide::bench {
namespace {

// As LargeBlocks has them.
constexpr std::int64_t kUnitBytes = std::int64_t{64} << 10;
constexpr std::int64_t kSmallestPageBytes = std::int64_t{2} << 20;
constexpr int kPageSizes = 4;
constexpr std::int64_t kLeastPages = 256;
constexpr int kMostRounds = 200;

std::int64_t page_bytes_for(std::int64_t budget_bytes) {
  std::int64_t bytes = kSmallestPageBytes;
  for (int size = 1; size < kPageSizes && budget_bytes >= kLeastPages * 2 * bytes; ++size) {
    bytes *= 2;
  }
  return bytes;
}

// Seconds of the processor: other programs may be at work.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double& seconds_;
  const double start_ = now();
};

}  // namespace

// Addresses only.
class LargeMemory::Mapper final : public engine::PageMapper {
 public:
  explicit Mapper(std::int64_t page_bytes) : page_bytes_(page_bytes) {}
  std::int64_t page_bytes() const override { return page_bytes_; }
  std::optional<Page> make_page() override { return ++made_; }
  void release_page(Page) noexcept override {}
  Address reserve(std::int64_t pages) override {
    const Address address = next_;
    next_ += static_cast<Address>(pages * page_bytes_);
    return address;
  }
  void unreserve(Address, std::int64_t) noexcept override {}
  void map(Address, std::span<const Page>) override {}
  void unmap(Address, std::int64_t) noexcept override {}

 private:
  const std::int64_t page_bytes_;
  Page made_ = 0;
  Address next_ = Address{1} << 40;
};

LargeMemory::LargeMemory(std::int64_t budget_bytes)
    : pages_(budget_bytes / page_bytes_for(budget_bytes)),
      mapper_(std::make_unique<Mapper>(page_bytes_for(budget_bytes))),
      arena_(*mapper_, kUnitBytes, 4 * pages_, [] {}) {}

LargeMemory::~LargeMemory() {
  for (const auto& [data, out] : whose_) arena_.free(data);
}

MemoryStep LargeMemory::carry_out(const StepBlocks& step) {
  now_ = {};
  const std::int64_t stitches_before = arena_.stitches();
  begin_with_what_is_there(step);
  for (const BlockEvent& event : step.events) {
    if (event.comes) {
      come(step.blocks[event.block], event.block);
    } else {
      go(event.block);
    }
  }
  end_step(step);
  now_.stitched = arena_.stitches() - stitches_before;
  now_.is_laid_out = arena_.is_laid_out();
  return now_;
}

// Another plan may have left other storages.
void LargeMemory::begin_with_what_is_there(const StepBlocks& step) {
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    if (!block.is_there_at_start) continue;
    const auto known = kept_.find(block.storage.index);
    if (known == kept_.end()) {
      come(block, i);
      continue;
    }
    Out& out = out_[i] = known->second;
    kept_.erase(known);
    if (out.data != nullptr) whose_[out.data] = &out;
  }
  for (const auto& [storage, out] : kept_) {
    if (out.data == nullptr) continue;
    whose_.erase(out.data);
    arena_.free(out.data);
  }
  kept_.clear();
}

void LargeMemory::end_step(const StepBlocks& step) {
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    const auto known = out_.find(i);
    if (!step.blocks[i].is_there_at_end || known == out_.end()) continue;
    Out& kept = kept_[step.blocks[i].storage.index] = known->second;
    if (kept.data != nullptr) whose_[kept.data] = &kept;
  }
  out_.clear();
  in_use_ = nullptr;
  {
    const Stopwatch watch(now_.layout_seconds);
    arena_.begin_step();
  }
  const Stopwatch watch(now_.home_seconds);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t moved =
        carry_out_moves(arena_.choose_homecomings([this](void* data) { return may_move(data); }));
    if (moved == 0) return;
    now_.came_home += static_cast<std::int64_t>(moved);
  }
}

void LargeMemory::come(const StepBlock& block, std::size_t number) {
  Out& out = out_[number];
  out.bytes = block.bytes;
  out.data = take(out.bytes);
  if (out.data != nullptr) whose_[out.data] = &out;
  in_use_ = out.data;
}

void LargeMemory::go(std::size_t number) {
  const auto known = out_.find(number);
  if (known == out_.end()) return;
  if (void* data = known->second.data) {
    whose_.erase(data);
    arena_.free(data);
  }
  out_.erase(known);
}

void* LargeMemory::take(std::int64_t bytes) {
  const auto try_it = [&](bool may_stitch) {
    const Stopwatch watch(now_.allocate_seconds);
    return arena_.allocate(bytes, pages_ - arena_.pages(), may_stitch);
  };
  for (;;) {
    if (void* data = try_it(arena_.is_laid_out())) return data;
    std::vector<engine::BlockMove> moves;
    {
      const Stopwatch watch(now_.choose_seconds);
      moves = arena_.choose_moves(bytes, [this](void* data) { return may_move(data); });
    }
    ++now_.searches;
    now_.moved += static_cast<std::int64_t>(carry_out_moves(moves));
    if (void* data = try_it(false)) return data;
    if (void* data = try_it(true)) return data;
    if (!evict_for(bytes)) return nullptr;
  }
}

// As the online rule prefers them: one that is large enough and not much larger; else the largest.
bool LargeMemory::evict_for(std::int64_t bytes) {
  Out* best = nullptr;
  const auto misfit = [bytes](const Out& out) {
    return out.bytes >= bytes ? out.bytes - bytes : 1'000 * bytes - out.bytes;
  };
  for (const auto& [data, out] : whose_) {
    if (data != in_use_ && (best == nullptr || misfit(*out) < misfit(*best))) best = out;
  }
  if (best == nullptr) return false;
  ++now_.evicted;
  arena_.free(best->data);
  whose_.erase(best->data);
  best->data = nullptr;
  return true;
}

std::size_t LargeMemory::carry_out_moves(const std::vector<engine::BlockMove>& moves) {
  for (const engine::BlockMove& move : moves) {
    arena_.settle(move, /*is_done=*/true);
    const auto known = whose_.extract(move.from);
    known.mapped()->data = move.to;
    whose_[move.to] = known.mapped();
  }
  return moves.size();
}

}  // namespace lowtide::bench
