// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "natural_lives.h"

#include <algorithm>
#include <utility>

namespace lowtide::oracle {
namespace {

bool names(const Trace& trace, const Op& op, StorageId storage) {
  const auto is_of_it = [&](const Use& use) { return trace.value(use.value).storage == storage; };
  return std::any_of(op.reads.begin(), op.reads.end(), is_of_it) ||
         std::any_of(op.writes.begin(), op.writes.end(), is_of_it) ||
         std::find(op.views.begin(), op.views.end(), storage) != op.views.end();
}

}  // namespace

NaturalLives::NaturalLives(const Trace& trace, std::vector<int> sequence)
    : trace_(trace), sequence_(std::move(sequence)) {
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    born_.push_back(find_birth(make_id<ValueId>(i)));
  }
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    dies_.push_back(find_death(make_id<ValueId>(i)));
  }
}

std::vector<int> NaturalLives::traced_order(const Trace& trace) {
  std::vector<int> sequence;
  for (std::size_t i = 0; i < trace.ops().size(); ++i) sequence.push_back(static_cast<int>(i));
  return sequence;
}

int NaturalLives::tick_of(OpId op) const {
  const auto found = std::find(sequence_.begin(), sequence_.end(), op.index);
  return static_cast<int>(found - sequence_.begin());
}

int NaturalLives::find_birth(ValueId value) const {
  const OpId producer = trace_.value(value).producer;
  return producer.valid() ? tick_of(producer) : -1;
}

int NaturalLives::find_death(ValueId value) const {
  if (const ValueId next = after(value); next.valid()) return born(next);
  const StorageId storage = trace_.value(value).storage;
  if (trace_.storage(storage).at_end) return end();
  int last = tick_of(trace_.storage(storage).freed_after);
  for (int tick = last + 1; tick < end(); ++tick) {
    const Op& op = trace_.ops()[static_cast<std::size_t>(op_at(tick))];
    if (names(trace_, op, storage)) last = tick;
  }
  return last;
}

bool NaturalLives::outlives(ValueId value) const {
  return !after(value).valid() && trace_.storage_of(value).at_end;
}

ValueId NaturalLives::before(ValueId value) const {
  const Value& v = trace_.value(value);
  if (v.version == 0) return {};
  return trace_.versions(v.storage)[static_cast<std::size_t>(v.version - 1)];
}

ValueId NaturalLives::after(ValueId value) const {
  const Value& v = trace_.value(value);
  const auto next = static_cast<std::size_t>(v.version + 1);
  const std::span<const ValueId> versions = trace_.versions(v.storage);
  return next < versions.size() ? versions[next] : ValueId{};
}

}  // namespace lowtide::oracle
