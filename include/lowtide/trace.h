// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/ids.h"

// A trace is one training step as it was measured or estimated: which ops ran in which order, what
// they read and wrote, and what they cost. Planners, checker, simulator and runtime all speak of
// its values and ops.
//
//   storage  a place in memory with a size; lives from its first write (or from before the step)
//            until the program releases it
//   value    the contents of a storage between two writes, written `name.version`
//   source   a value that no op of the step produced: what a storage held when the step began
//   op       one kernel call: reads values, makes new ones

namespace lowtide {

namespace trace {
class Lifetimes;
}

enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer, kOther };

enum class StorageKind : std::uint8_t {
  kParameter,
  kGradient,
  kState,
  kInput,
  kActivation,
  kTemporary,
  kWorkspace,
};
inline constexpr std::size_t kStorageKinds = 7;

std::string_view to_string(Phase phase);
std::string_view to_string(StorageKind kind);
std::optional<Phase> phase_from(std::string_view name);
std::optional<StorageKind> storage_kind_from(std::string_view name);

/// One way to hold a storage's contents in fewer bytes.
struct CodecOption {
  std::string name;
  std::int64_t bytes = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;
  bool lossless = true;

  friend bool operator==(const CodecOption&, const CodecOption&) = default;
};

/// One way to carry out an op other than the traced one.
struct Implementation {
  std::string name;
  double seconds = 0;
  std::int64_t workspace_bytes = 0;
  bool bit_exact = true;
  /// Runs on the host's processor: reads from and writes to host memory only.
  bool on_host = false;
  /// Runs on the device, and its inputs may also lie in host memory.
  bool reads_host = false;

  friend bool operator==(const Implementation&, const Implementation&) = default;
};

struct Storage {
  std::string name;
  std::int64_t bytes = 0;
  StorageKind kind = StorageKind::kTemporary;
  /// Existed before the step, so its version 0 is a source.
  bool at_start = false;
  /// Still exists after the step.
  bool at_end = false;
  /// May be neither dropped, moved nor encoded.
  bool pinned = false;
  /// The op after which the program releases it. Not set exactly when at_end.
  OpId freed_after;
  std::vector<CodecOption> codecs;
  /// The part of the model it belongs to, as a weight does; empty when unknown. What ops make
  /// belongs to their layers.
  std::string layer{};
};

struct Value {
  StorageId storage;
  std::int32_t version = 0;
  /// The op that wrote it; not valid for a source.
  OpId producer;

  bool is_source() const { return !producer.valid(); }
};

/// One value that an op reads or writes.
struct Use {
  ValueId value;
  /// A replay of the op neither needs nor yields it (BatchNorm's running statistics): it works on a
  /// scratch copy.
  bool side_effect = false;

  friend bool operator==(const Use&, const Use&) = default;
};

/// Seconds, or nothing where none are known: a std::optional<double> in half the bytes, since no
/// time is negative.
class OptionalSeconds {
 public:
  OptionalSeconds() = default;
  explicit OptionalSeconds(std::optional<double> seconds) : seconds_(seconds.value_or(-1)) {}

  bool has_value() const { return seconds_ >= 0; }
  explicit operator bool() const { return has_value(); }
  /// Requires: has_value().
  double operator*() const { return seconds_; }
  double value_or(double other) const { return has_value() ? seconds_ : other; }
  std::optional<double> as_optional() const {
    return has_value() ? std::optional(seconds_) : std::nullopt;
  }
  friend bool operator==(const OptionalSeconds& a, double seconds) {
    return a.as_optional() == seconds;
  }

 private:
  double seconds_ = -1;
};

/// What every walk over the step looks at stands first, in one line of the cache: long steps are
/// bound by memory.
struct alignas(64) Op {
  /// Both belong to the trace.
  std::span<const Use> reads;
  std::span<const Use> writes;
  std::int64_t workspace_bytes = 0;
  Phase phase = Phase::kForward;
  bool replayable = true;
  bool random = false;
  /// Overwrites a storage that already had contents. Derived.
  bool in_place = false;
  /// Seconds of the kernel on the device; not set when it was not measured.
  OptionalSeconds device_seconds;
  /// Seconds the host spends to issue it.
  OptionalSeconds host_seconds;
  /// Storages over which the op makes another tensor. Their bytes are not touched.
  std::vector<StorageId> views;
  std::string name;
  /// The part of the model it belongs to; empty when unknown.
  std::string layer;
  std::int64_t flops = 0;
  /// Bytes the kernel reads and writes; 0 means the sizes of what it uses.
  std::int64_t accessed_bytes = 0;
  std::vector<Implementation> options;
};

/// One training step. Made by a TraceBuilder, which checks it; not changed afterwards.
/// Ops, storages and values are ordered by id; the order of ops is the order of execution, and
/// sources come before all other values.
class Trace {
 public:
  // The ops of a copy would point into the original.
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  Trace(Trace&&) = default;
  Trace& operator=(Trace&&) = default;
  ~Trace() = default;

  const std::string& name() const { return name_; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Storage>& storages() const { return storages_; }
  const std::vector<Value>& values() const { return values_; }

  const Op& op(OpId id) const { return ops_[id.slot()]; }
  /// The same as op(id).reads and so on, for walks that need little of the op: they stay within
  /// memory that is a small part of all ops.
  std::span<const Use> reads(OpId id) const { return uses_between(2 * id.slot()); }
  std::span<const Use> writes(OpId id) const { return uses_between(2 * id.slot() + 1); }
  bool is_replayable(OpId id) const { return replayable_[id.slot()]; }
  const Storage& storage(StorageId id) const { return storages_[id.slot()]; }
  const Value& value(ValueId id) const { return values_[id.slot()]; }
  const Storage& storage_of(ValueId id) const { return storage(value(id).storage); }

  /// The position after the last op: the tick at which the step ends.
  OpId end() const { return make_id<OpId>(ops_.size()); }
  /// The values of a storage in order of version; empty if nothing ever wrote it.
  std::span<const ValueId> versions(StorageId id) const {
    const std::size_t start = version_starts_[id.slot()];
    return {versions_.data() + start, version_starts_[id.slot() + 1] - start};
  }

  /// "name.version".
  std::string value_name(ValueId id) const;
  /// "name (op 12)"; "end of step" for end().
  std::string op_name(OpId id) const;

  /// When each value exists in the traced order: made once, since all that looks at a trace asks
  /// for it. For the library itself, see trace/lifetimes.h.
  const std::shared_ptr<const trace::Lifetimes>& lifetimes() const { return lifetimes_; }

 private:
  friend class TraceBuilder;
  Trace() = default;

  std::span<const Use> uses_between(std::size_t i) const {
    return {uses_.data() + use_starts_[i], use_starts_[i + 1] - use_starts_[i]};
  }

  std::string name_;
  std::vector<Op> ops_;
  std::vector<Storage> storages_;
  std::vector<Value> values_;
  /// What the ops read and write, op after op.
  std::vector<Use> uses_;
  /// Where in uses_ the reads of each op begin and where its writes do, and the end of all.
  std::vector<std::uint32_t> use_starts_;
  std::vector<bool> replayable_;
  /// The versions of all storages, one after another, and where each storage's begin.
  std::vector<ValueId> versions_;
  std::vector<std::uint32_t> version_starts_;
  std::shared_ptr<const trace::Lifetimes> lifetimes_;
};

/// A storage as an op of a TraceSpec names it.
struct StorageUse {
  StorageId storage;
  bool side_effect = false;
};

/// An op as a TraceBuilder takes it: it names storages, and the builder finds the versions.
struct OpSpec {
  std::string name;
  Phase phase = Phase::kForward;
  std::string layer{};
  std::vector<StorageUse> reads{};
  std::vector<StorageUse> writes{};
  std::vector<StorageId> views{};
  /// Storages the program releases right after this op.
  std::vector<StorageId> frees{};
  std::optional<double> device_seconds{};
  std::optional<double> host_seconds{};
  std::int64_t workspace_bytes = 0;
  std::int64_t flops = 0;
  std::int64_t accessed_bytes = 0;
  bool replayable = true;
  bool random = false;
  std::vector<Implementation> options{};
};

/// Makes a Trace op by op, in order of execution. Every fault in the input (a read of a storage
/// that holds nothing, a use after release, a negative size, a name used twice) throws InvalidInput
/// and names the op or storage.
class TraceBuilder {
 public:
  explicit TraceBuilder(std::string name);

  StorageId add_storage(Storage storage);
  OpId add_op(OpSpec spec);
  /// Storages neither freed nor at_end are released after the last op that uses them.
  Trace build();

 private:
  ValueId read(const StorageUse& use, const std::string& op_name);
  ValueId write(const StorageUse& use, OpId op, Op& result);
  void point_ops_at_uses();
  void list_versions();
  void touch(StorageId id, OpId op, const std::string& op_name);
  void check_alive(StorageId id, const std::string& op_name) const;

  Trace trace_;
  /// By storage, while they grow.
  std::vector<std::vector<ValueId>> versions_;
  /// By op: how many of Trace::uses_ are its reads and its writes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> use_counts_;
  /// Last op that used the storage; freed_after of the storage is set early by OpSpec::frees.
  std::vector<OpId> last_use_;
};

}  // namespace lowtide
