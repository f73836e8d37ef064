// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/op_precedences.h"

#include <utility>

namespace lowtide::policy {
namespace {

class Collector {
 public:
  explicit Collector(const Trace& trace) : trace_(trace) {}

  void add_all(OpId op) {
    for (const Use& read : trace_.reads(op)) {
      add(trace_.value(read.value).producer, op);
      add(op, overwriter(read.value));
    }
    for (const Use& write : trace_.writes(op)) {
      const Value& value = trace_.value(write.value);
      if (value.version > 0) add(trace_.value(version(value, -1)).producer, op);
    }
    for (const StorageId view : trace_.op(op).views) {
      const OpId producer = trace_.value(trace_.versions(view).front()).producer;
      if (producer < op) add(producer, op);
    }
  }

  std::vector<solve::Precedence> precedences;

 private:
  ValueId version(const Value& value, std::int32_t further) const {
    return trace_.versions(value.storage)[static_cast<std::size_t>(value.version + further)];
  }

  OpId overwriter(ValueId id) const {
    const Value& value = trace_.value(id);
    const auto versions = static_cast<std::int32_t>(trace_.versions(value.storage).size());
    return value.version + 1 < versions ? trace_.value(version(value, 1)).producer : OpId{};
  }

  void add(OpId before, OpId after) {
    if (!before.valid() || !after.valid() || before == after) return;
    precedences.push_back({before.index, after.index});
  }

  const Trace& trace_;
};

}  // namespace

std::vector<solve::Precedence> op_precedences(const Trace& trace) {
  Collector collector(trace);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) collector.add_all(make_id<OpId>(i));
  return std::move(collector.precedences);
}

}  // namespace lowtide::policy
