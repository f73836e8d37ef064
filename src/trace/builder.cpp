// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "lowtide/trace.h"
#include "trace/lifetimes.h"
#include "trace/names.h"

namespace lowtide {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
// Sums over a whole trace, rounding included, must not overflow.
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 60;
constexpr std::size_t kMaxCount = std::size_t{1} << 28;
constexpr double kMaxSeconds = 1e9;

void check_bytes(std::int64_t bytes, const std::string& what) {
  LT_REQUIRE(bytes >= 0 && bytes <= kMaxBytes, "size out of range for ", what, ": ", bytes);
}

void check_seconds(double seconds, const std::string& what) {
  LT_REQUIRE(seconds >= 0 && seconds <= kMaxSeconds, "time out of range for ", what, ": ", seconds);
}

// Codecs and options are named in plans, so one storage or op has no two of one name.
template <class Named>
void check_distinct_names(const std::vector<Named>& list, const std::string& owner) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      LT_REQUIRE(list[i].name != list[j].name, owner, " has two of the name ", list[i].name);
    }
  }
}

void check_spec(const OpSpec& spec) {
  trace::require_name(spec.name, "op");
  if (!spec.layer.empty()) trace::require_name(spec.layer, "layer");
  check_bytes(spec.workspace_bytes, "workspace of op " + spec.name);
  check_bytes(spec.accessed_bytes, "accessed bytes of op " + spec.name);
  LT_REQUIRE(spec.flops >= 0, "negative flops of op ", spec.name);
  if (spec.device_seconds) check_seconds(*spec.device_seconds, "op " + spec.name);
  if (spec.host_seconds) check_seconds(*spec.host_seconds, "op " + spec.name);
  for (const Implementation& option : spec.options) {
    trace::require_name(option.name, "option");
    check_seconds(option.seconds, "option " + option.name + " of op " + spec.name);
    check_bytes(option.workspace_bytes, "option " + option.name + " of op " + spec.name);
    LT_REQUIRE(!(option.on_host && option.reads_host), "option ", option.name, " of op ", spec.name,
               " runs either on the host or on the device, not both");
  }
  check_distinct_names(spec.options, "op " + spec.name);
}

void check_distinct(const std::vector<StorageUse>& uses, const std::string& op_name) {
  std::vector<StorageId> ids;
  ids.reserve(uses.size());
  for (const StorageUse& use : uses) ids.push_back(use.storage);
  std::sort(ids.begin(), ids.end());
  LT_REQUIRE(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), "op ", op_name,
             " names the same storage twice in its reads or in its writes");
}

// One order for both file forms, so that a trace keeps its value ids through either.
void put_side_effects_last(std::vector<StorageUse>& uses) {
  std::stable_partition(uses.begin(), uses.end(),
                        [](const StorageUse& use) { return !use.side_effect; });
}

// Storages may be added between ops, but files list all of them first. Numbering sources first, in
// the order of storages, makes the ids of values the same whichever way a trace was made.
void number_sources_first(std::vector<Value>& values, std::vector<std::vector<ValueId>>& versions,
                          std::vector<Use>& uses) {
  const auto is_source = [](const Value& value) { return value.is_source(); };
  if (std::is_partitioned(values.begin(), values.end(), is_source)) return;
  std::vector<ValueId> renumbered(values.size());
  std::size_t next = 0;
  for (const bool sources : {true, false}) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_source(values[i]) == sources) renumbered[i] = make_id<ValueId>(next++);
    }
  }
  std::stable_partition(values.begin(), values.end(), is_source);
  const auto renumber = [&renumbered](ValueId& id) { id = renumbered[id.slot()]; };
  for (std::vector<ValueId>& list : versions) {
    for (ValueId& id : list) renumber(id);
  }
  for (Use& use : uses) renumber(use.value);
}

Op plain_op(OpSpec& spec) {
  Op op;
  op.name = std::move(spec.name);
  op.phase = spec.phase;
  op.layer = std::move(spec.layer);
  op.views = std::move(spec.views);
  op.device_seconds = OptionalSeconds(spec.device_seconds);
  op.host_seconds = OptionalSeconds(spec.host_seconds);
  op.workspace_bytes = spec.workspace_bytes;
  op.flops = spec.flops;
  op.accessed_bytes = spec.accessed_bytes;
  op.replayable = spec.replayable;
  op.random = spec.random;
  op.options = std::move(spec.options);
  return op;
}

}  // namespace

TraceBuilder::TraceBuilder(std::string name) {
  trace::require_name(name, "trace");
  trace_.name_ = std::move(name);
}

StorageId TraceBuilder::add_storage(Storage storage) {
  trace::require_name(storage.name, "storage");
  if (!storage.layer.empty()) trace::require_name(storage.layer, "layer");
  LT_REQUIRE(trace_.storages_.size() < kMaxCount, "too many storages");
  check_bytes(storage.bytes, "storage " + storage.name);
  for (const CodecOption& codec : storage.codecs) {
    trace::require_name(codec.name, "codec");
    check_bytes(codec.bytes, "codec " + codec.name + " of storage " + storage.name);
    check_seconds(codec.encode_seconds, "codec " + codec.name + " of storage " + storage.name);
    check_seconds(codec.decode_seconds, "codec " + codec.name + " of storage " + storage.name);
  }
  check_distinct_names(storage.codecs, "storage " + storage.name);
  storage.freed_after = OpId{};
  const auto id = make_id<StorageId>(trace_.storages_.size());
  versions_.emplace_back();
  last_use_.emplace_back();
  if (storage.at_start) {
    versions_.back().push_back(make_id<ValueId>(trace_.values_.size()));
    trace_.values_.push_back(Value{.storage = id, .version = 0, .producer = OpId{}});
  }
  trace_.storages_.push_back(std::move(storage));
  return id;
}

void TraceBuilder::check_alive(StorageId id, const std::string& op_name) const {
  LT_REQUIRE(id.valid() && id.slot() < trace_.storages_.size(), "op ", op_name,
             " names a storage that does not exist");
  const Storage& storage = trace_.storage(id);
  LT_REQUIRE(!storage.freed_after.valid(), "op ", op_name, " uses storage ", storage.name,
             " after it was freed");
}

void TraceBuilder::touch(StorageId id, OpId op, const std::string& op_name) {
  check_alive(id, op_name);
  last_use_[id.slot()] = op;
}

ValueId TraceBuilder::read(const StorageUse& use, const std::string& op_name) {
  const auto& versions = versions_[use.storage.slot()];
  LT_REQUIRE(!versions.empty(), "op ", op_name, " reads storage ", trace_.storage(use.storage).name,
             " before anything was written there");
  return versions.back();
}

ValueId TraceBuilder::write(const StorageUse& use, OpId op, Op& result) {
  auto& versions = versions_[use.storage.slot()];
  if (!versions.empty()) result.in_place = true;
  const auto id = make_id<ValueId>(trace_.values_.size());
  LT_REQUIRE(trace_.values_.size() < kMaxCount, "too many values");
  trace_.values_.push_back(Value{.storage = use.storage,
                                 .version = static_cast<std::int32_t>(versions.size()),
                                 .producer = op});
  versions.push_back(id);
  return id;
}

OpId TraceBuilder::add_op(OpSpec spec) {
  check_spec(spec);
  LT_REQUIRE(trace_.ops_.size() < kMaxCount, "too many ops");
  const OpId id = trace_.end();
  for (const StorageUse& use : spec.reads) touch(use.storage, id, spec.name);
  for (const StorageUse& use : spec.writes) touch(use.storage, id, spec.name);
  for (const StorageId view : spec.views) touch(view, id, spec.name);
  check_distinct(spec.reads, spec.name);
  check_distinct(spec.writes, spec.name);
  put_side_effects_last(spec.reads);
  put_side_effects_last(spec.writes);

  Op op = plain_op(spec);
  for (const StorageUse& use : spec.reads) {
    trace_.uses_.push_back(Use{.value = read(use, op.name), .side_effect = use.side_effect});
  }
  for (const StorageUse& use : spec.writes) {
    trace_.uses_.push_back(Use{.value = write(use, id, op), .side_effect = use.side_effect});
  }
  use_counts_.emplace_back(static_cast<std::uint32_t>(spec.reads.size()),
                           static_cast<std::uint32_t>(spec.writes.size()));
  trace_.ops_.push_back(std::move(op));
  for (const StorageId freed : spec.frees) {
    const std::string& op_name = trace_.ops_.back().name;
    check_alive(freed, op_name);
    Storage& storage = trace_.storages_[freed.slot()];
    LT_REQUIRE(!storage.at_end, "op ", op_name, " frees storage ", storage.name,
               ", which is said to exist at the end");
    LT_REQUIRE(!versions_[freed.slot()].empty(), "op ", op_name, " frees storage ", storage.name,
               " before anything was written there");
    storage.freed_after = id;
  }
  return id;
}

Trace TraceBuilder::build() {
  std::unordered_set<std::string_view> names;
  std::int64_t total_bytes = 0;
  for (std::size_t i = 0; i < trace_.storages_.size(); ++i) {
    Storage& storage = trace_.storages_[i];
    LT_REQUIRE(names.insert(storage.name).second, "two storages have the name ", storage.name);
    LT_REQUIRE(!versions_[i].empty(), "storage ", storage.name,
               " is never written and does not exist at the start");
    total_bytes += storage.bytes;
    LT_REQUIRE(total_bytes <= kMaxTotalBytes, "the storages are too large together");
    if (storage.at_end || storage.freed_after.valid()) continue;
    // What nobody uses goes with the first op; without any op it stays.
    storage.freed_after = last_use_[i].valid() ? last_use_[i] : make_id<OpId>(0);
    if (trace_.ops_.empty()) {
      storage.at_end = true;
      storage.freed_after = OpId{};
    }
  }
  number_sources_first(trace_.values_, versions_, trace_.uses_);
  point_ops_at_uses();
  list_versions();
  trace_.lifetimes_ = std::make_shared<const trace::Lifetimes>(trace_);
  Trace result = std::move(trace_);
  *this = TraceBuilder(result.name());
  return result;
}

void TraceBuilder::point_ops_at_uses() {
  std::uint32_t next = 0;
  for (const auto& [reads, writes] : use_counts_) {
    trace_.use_starts_.push_back(next);
    trace_.use_starts_.push_back(next + reads);
    next += reads + writes;
  }
  trace_.use_starts_.push_back(next);
  for (std::size_t i = 0; i < trace_.ops_.size(); ++i) {
    trace_.ops_[i].reads = trace_.reads(make_id<OpId>(i));
    trace_.ops_[i].writes = trace_.writes(make_id<OpId>(i));
    trace_.replayable_.push_back(trace_.ops_[i].replayable);
  }
}

void TraceBuilder::list_versions() {
  for (const std::vector<ValueId>& versions : versions_) {
    trace_.version_starts_.push_back(static_cast<std::uint32_t>(trace_.versions_.size()));
    trace_.versions_.insert(trace_.versions_.end(), versions.begin(), versions.end());
  }
  trace_.version_starts_.push_back(static_cast<std::uint32_t>(trace_.versions_.size()));
}

}  // namespace lowtide
