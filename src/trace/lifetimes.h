// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "lowtide/trace.h"

namespace lowtide::trace {

// A position in the executed sequence of ops: tick t runs the t-th op. Tick `op count` is the end
// of the step, where no op runs.
using Tick = std::int32_t;

// When a value exists if nothing is ever evicted.
struct Lifetime {
  // Tick of its producer; -1 for a source.
  Tick born = -1;
  // The last tick during which it exists: that of the op which overwrites it or after which its
  // storage is released; the end tick if it outlives the step.
  Tick dies = 0;
  // An op overwrites it at tick `dies`.
  bool overwritten = false;
  // It is what its storage holds when the step ends.
  bool at_end = false;
  // Ticks of the ops that read it, side effects included, in order. Belongs to the Lifetimes.
  std::span<const Tick> reads;

  Tick last_read() const { return reads.empty() ? born : reads.back(); }
  bool exists_at(Tick tick) const { return born <= tick && tick <= dies; }
};

// The lifetimes of all values, for the trace's own order or another one.
class Lifetimes {
 public:
  explicit Lifetimes(const Trace& trace);
  // `sequence` lists every op once. Releases move with the ops: a storage goes when all ops that
  // use it, and the op after which the program let it go, have run.
  Lifetimes(const Trace& trace, const std::vector<OpId>& sequence);

  // A copy's lifetimes would point into the original.
  Lifetimes(const Lifetimes&) = delete;
  Lifetimes& operator=(const Lifetimes&) = delete;
  Lifetimes(Lifetimes&&) = default;
  Lifetimes& operator=(Lifetimes&&) = default;
  ~Lifetimes() = default;

  const Lifetime& of(ValueId id) const { return lifetimes_[id.slot()]; }
  Tick tick_of(OpId op) const { return ticks_[op.slot()]; }
  // At the end tick this is the end position, which no op has.
  OpId op_at(Tick tick) const {
    return tick == end() ? make_id<OpId>(sequence_.size())
                         : sequence_[static_cast<std::size_t>(tick)];
  }
  Tick end() const { return static_cast<Tick>(sequence_.size()); }
  const std::vector<OpId>& sequence() const { return sequence_; }

  // Values that exist for the last time during this tick. Sources that the program neither uses
  // nor frees die at tick 0.
  std::span<const ValueId> deaths(Tick tick) const {
    return deaths_[static_cast<std::size_t>(tick)];
  }

 private:
  void find_reads(const Trace& trace);
  void find_deaths(const Trace& trace);
  std::vector<Tick> find_releases(const Trace& trace) const;

  std::vector<OpId> sequence_;
  // By op; one more entry than ops, so that the end position has its tick too.
  std::vector<Tick> ticks_;
  std::vector<Lifetime> lifetimes_;
  base::Grouped<Tick> reads_;
  base::Grouped<ValueId> deaths_;
};

}  // namespace lowtide::trace
