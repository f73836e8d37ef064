// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "run/tier/block_io.h"

// Reads and writes that go wrong when a test wants it.

namespace lowtide::tier {

enum class Fault {
  kNone,
  kReadError,
  kWriteError,
  kNoSpace,
  kShortRead,
  kShortWrite,
  // Ends after everything else that is under way.
  kLate,
  // On the way from the disk; the next read is right.
  kFlippedRead,
  // On the disk.
  kFlippedWrite,
  // The bytes of another place.
  kSwappedRead,
  // Is said to be done and is not: what lay there before stays.
  kLostWrite,
  // Goes to the place of another, or to none: both are not what they should be.
  kMisdirectedWrite,
};

inline const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> all = {
      Fault::kReadError,   Fault::kWriteError, Fault::kNoSpace,         Fault::kShortRead,
      Fault::kShortWrite,  Fault::kLate,       Fault::kFlippedRead,     Fault::kFlippedWrite,
      Fault::kSwappedRead, Fault::kLostWrite,  Fault::kMisdirectedWrite};
  return all;
}

inline std::string name_of(Fault fault) {
  static const char* const names[] = {
      "none", "read error",   "write error",   "no space",     "short read", "short write",
      "late", "flipped read", "flipped write", "swapped read", "lost write", "misdirected write"};
  return names[static_cast<std::size_t>(fault)];
}

// Set before the file is opened, read by its thread; `hits` may be looked at when nothing is busy.
struct FaultPlan {
  Fault fault = Fault::kNone;
  // The request of this number, of those that it can happen to; and if `for_good` all after it.
  std::int64_t number = 0;
  bool for_good = false;
  std::int64_t hits = 0;
  // Requests that it could happen to so far.
  std::int64_t seen = 0;
};

class FaultyIo final : public BlockIo {
 public:
  FaultyIo(std::unique_ptr<BlockIo> base, FaultPlan& plan) : base_(std::move(base)), plan_(plan) {}

  std::string name() const override { return base_->name(); }
  int depth() const override { return base_->depth(); }

  void submit(const IoRequest& request) override {
    const bool is_write = request.kind == IoRequest::Kind::kWrite;
    IoRequest changed = request;
    if (is_time(is_write)) spoil(changed);
    if (is_write) written_.emplace_back(request.offset, request.bytes);
    if (changed.bytes == 0) return;
    ++under_way_;
    requests_.insert_or_assign(request.tag, request);
    base_->submit(changed);
  }

  IoResult wait() override {
    while (ended_.empty()) {
      if (under_way_ == 0) return take(late_);
      const IoResult result = base_->wait();
      --under_way_;
      on_end(result);
    }
    return take(ended_);
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static constexpr std::int64_t kBlock = 4096;
  static constexpr std::int64_t kFarAway = std::int64_t{1} << 32;

  static IoResult take(std::deque<IoResult>& results) {
    const IoResult result = results.front();
    results.pop_front();
    return result;
  }

  static bool can_happen(Fault fault, bool to_write) {
    switch (fault) {
      case Fault::kNone:
        return false;
      case Fault::kLate:
        return true;
      case Fault::kReadError:
      case Fault::kShortRead:
      case Fault::kFlippedRead:
      case Fault::kSwappedRead:
        return !to_write;
      default:
        return to_write;
    }
  }

  bool is_time(bool is_write) {
    if (!can_happen(plan_.fault, is_write)) return false;
    const std::int64_t left = plan_.number - plan_.seen++;
    return left == 0 || (left < 0 && plan_.for_good);
  }

  // Ends it at once: no bytes are left to be transferred.
  void answer(IoRequest& request, std::int64_t result) {
    ended_.push_back({request.tag, result});
    request.bytes = 0;
  }

  void spoil(IoRequest& request) {
    if (plan_.fault == Fault::kSwappedRead || plan_.fault == Fault::kMisdirectedWrite) {
      const auto other = std::find_if(written_.begin(), written_.end(), [&](const auto& written) {
        return written.first != request.offset && written.second >= request.bytes;
      });
      const bool is_read = plan_.fault == Fault::kSwappedRead;
      if (other == written_.end() && is_read) return;
      request.offset = other == written_.end() ? request.offset + kFarAway : other->first;
    }
    ++plan_.hits;
    switch (plan_.fault) {
      case Fault::kReadError:
      case Fault::kWriteError:
        return answer(request, -EIO);
      case Fault::kNoSpace:
        return answer(request, -ENOSPC);
      case Fault::kLostWrite:
        return answer(request, request.bytes);
      case Fault::kShortRead:
      case Fault::kShortWrite:
        return shorten(request);
      case Fault::kFlippedWrite:
        return flip_copy(request);
      case Fault::kLate:
        late_tags_.push_back(request.tag);
        return;
      case Fault::kFlippedRead:
        flipped_tags_.push_back(request.tag);
        return;
      default:
        return;
    }
  }

  void shorten(IoRequest& request) {
    const std::int64_t half = request.bytes / 2 / kBlock * kBlock;
    if (half == 0) return answer(request, 0);
    request.bytes = half;
  }

  void flip_copy(IoRequest& request) {
    const auto bytes = static_cast<std::size_t>(request.bytes);
    copies_.emplace_back(std::aligned_alloc(kBlock, bytes));
    std::memcpy(copies_.back().get(), request.data, bytes);
    request.data = copies_.back().get();
    flip_a_bit(request);
  }

  // One in the middle, and for the smallest values not behind their end.
  static void flip_a_bit(const IoRequest& request) {
    static_cast<unsigned char*>(request.data)[std::min<std::int64_t>(request.bytes / 2, 50)] ^= 4;
  }

  void on_end(const IoResult& result) {
    if (std::erase(flipped_tags_, result.tag) > 0) flip_a_bit(requests_.at(result.tag));
    (std::erase(late_tags_, result.tag) > 0 ? late_ : ended_).push_back(result);
  }

  std::unique_ptr<BlockIo> base_;
  FaultPlan& plan_;
  int under_way_ = 0;
  std::unordered_map<std::uint64_t, IoRequest> requests_;
  std::vector<std::pair<std::int64_t, std::int64_t>> written_;
  std::deque<IoResult> ended_;
  std::deque<IoResult> late_;
  std::vector<std::uint64_t> late_tags_;
  std::vector<std::uint64_t> flipped_tags_;
  std::vector<std::unique_ptr<void, Free>> copies_;
};

}  // namespace lowtide::tier
