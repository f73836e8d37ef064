// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/lifetimes.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lowtide::trace {
namespace {

std::vector<OpId> traced_order(const Trace& trace) {
  std::vector<OpId> sequence;
  sequence.reserve(trace.ops().size());
  for (std::size_t i = 0; i < trace.ops().size(); ++i) sequence.push_back(make_id<OpId>(i));
  return sequence;
}

}  // namespace

Lifetimes::Lifetimes(const Trace& trace) : Lifetimes(trace, traced_order(trace)) {}

Lifetimes::Lifetimes(const Trace& trace, const std::vector<OpId>& sequence)
    : sequence_(sequence), ticks_(trace.ops().size() + 1, -1) {
  LT_REQUIRE(sequence.size() == trace.ops().size(), "the order names ", sequence.size(), " of ",
             trace.ops().size(), " ops");
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    LT_REQUIRE(sequence[i].valid() && sequence[i].slot() < sequence.size() &&
                   ticks_[sequence[i].slot()] < 0,
               "the order must name every op once, see position ", i);
    ticks_[sequence[i].slot()] = static_cast<Tick>(i);
  }
  ticks_.back() = end();
  find_reads(trace);
  find_deaths(trace);
}

void Lifetimes::find_reads(const Trace& trace) {
  lifetimes_.resize(trace.values().size());
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const Value& value = trace.values()[i];
    lifetimes_[i].born = value.is_source() ? -1 : tick_of(value.producer);
  }
  reads_ = base::Grouped<Tick>::from_walk(lifetimes_.size(), [&](auto add) {
    for (Tick tick = 0; tick < end(); ++tick) {
      for (const Use& use : trace.reads(op_at(tick))) add(use.value.slot(), tick);
    }
  });
  for (std::size_t i = 0; i < lifetimes_.size(); ++i) lifetimes_[i].reads = reads_[i];
}

// By storage: the tick after which it is released.
std::vector<Tick> Lifetimes::find_releases(const Trace& trace) const {
  std::vector<Tick> released(trace.storages().size(), 0);
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const Storage& storage = trace.storages()[i];
    released[i] = storage.at_end ? end() : tick_of(storage.freed_after);
  }
  // In the traced order nothing uses a storage after its release.
  if (std::is_sorted(sequence_.begin(), sequence_.end())) return released;
  for (Tick tick = 0; tick < end(); ++tick) {
    const auto extend = [&](StorageId id) {
      released[id.slot()] = std::max(released[id.slot()], tick);
    };
    const Op& op = trace.op(op_at(tick));
    for (const Use& use : op.reads) extend(trace.value(use.value).storage);
    for (const Use& use : op.writes) extend(trace.value(use.value).storage);
    for (const StorageId view : op.views) extend(view);
  }
  return released;
}

void Lifetimes::find_deaths(const Trace& trace) {
  const std::vector<Tick> released = find_releases(trace);
  // Versions of a storage have rising ids, so that going backwards the next one comes first.
  std::vector<ValueId> next_version(trace.storages().size());
  for (std::size_t i = trace.values().size(); i-- > 0;) {
    const Value& value = trace.values()[i];
    const ValueId next = std::exchange(next_version[value.storage.slot()], make_id<ValueId>(i));
    Lifetime& life = lifetimes_[i];
    life.overwritten = next.valid();
    life.dies = next.valid() ? tick_of(trace.value(next).producer) : released[value.storage.slot()];
    // Nothing is released at the end tick.
    life.at_end = !next.valid() && life.dies == end();
  }
  deaths_ = base::Grouped<ValueId>::from_walk(sequence_.size() + 1, [&](auto add) {
    for (std::size_t i = 0; i < lifetimes_.size(); ++i) {
      add(static_cast<std::size_t>(lifetimes_[i].dies), make_id<ValueId>(i));
    }
  });
}

}  // namespace lowtide::trace
