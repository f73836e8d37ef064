// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "plan/transform.h"
#include "trace/frees.h"

namespace lowtide::plan {
namespace {

std::int64_t share(std::int64_t amount, std::int64_t parts) { return (amount + parts - 1) / parts; }

std::string part_name(const std::string& name, std::int32_t part) {
  return name + "/" + std::to_string(part);
}

void check_request(const Trace& trace, const SplitRequest& request) {
  LT_REQUIRE(request.first.valid() && request.first <= request.last && request.last < trace.end(),
             "no range of ops to split: ", request.first.index, " to ", request.last.index);
  LT_REQUIRE(request.parts >= 2, "a split needs at least two parts, not ", request.parts);
  for (const StorageId id : request.batched) {
    LT_REQUIRE(id.valid() && id.slot() < trace.storages().size(), "no storage ", id.index);
  }
}

class Splitter {
 public:
  Splitter(const Problem& problem, const SplitRequest& request)
      : problem_(problem),
        trace_(*problem.trace),
        request_(request),
        frees_(trace::frees_by_op(trace_)),
        is_batched_(trace_.storages().size(), false),
        is_sliced_(trace_.storages().size(), false),
        builder_(trace_.name()) {
    for (const StorageId id : request.batched) is_batched_[id.slot()] = true;
    find_sliced();
    for (const OpId op : range()) check_op(op);
  }

  Transformed split() {
    for (std::size_t i = 0; i < trace_.storages().size(); ++i) add_storage(make_id<StorageId>(i));
    for (OpId op{0}; op < request_.first; ++op.index) add_op(op, kWhole);
    for (std::int32_t part = 0; part < request_.parts; ++part) {
      for (const OpId op : range()) add_op(op, part);
    }
    for (OpId op{request_.last.index + 1}; op < trace_.end(); ++op.index) add_op(op, kWhole);
    result_.problem = problem_;
    result_.problem.trace = std::make_shared<const Trace>(builder_.build());
    return std::move(result_);
  }

 private:
  // In place of a part: the op lies outside the range.
  static constexpr std::int32_t kWhole = -1;

  std::vector<OpId> range() const {
    std::vector<OpId> ops;
    for (OpId op = request_.first; op <= request_.last; ++op.index) ops.push_back(op);
    return ops;
  }

  bool in_range(OpId op) const { return request_.first <= op && op <= request_.last; }

  // Sliced is what is batched and lives inside the range only.
  void find_sliced() {
    for (std::size_t i = 0; i < is_sliced_.size(); ++i) {
      const Storage& storage = trace_.storages()[i];
      is_sliced_[i] = is_batched_[i] && !storage.at_start && in_range(storage.freed_after);
    }
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      if (in_range(make_id<OpId>(i))) continue;
      const Op& op = trace_.ops()[i];
      for (const Use& use : op.reads) keep_whole(trace_.value(use.value).storage);
      for (const Use& use : op.writes) keep_whole(trace_.value(use.value).storage);
      for (const StorageId view : op.views) keep_whole(view);
    }
  }

  void keep_whole(StorageId id) { is_sliced_[id.slot()] = false; }

  bool writes(const Op& op, StorageId id) const {
    return std::any_of(op.writes.begin(), op.writes.end(),
                       [&](const Use& use) { return trace_.value(use.value).storage == id; });
  }

  void check_op(OpId id) const {
    const Op& op = trace_.op(id);
    const auto is_batched = [this](const Use& use) {
      return is_batched_[trace_.value(use.value).storage.slot()];
    };
    LT_REQUIRE(std::any_of(op.reads.begin(), op.reads.end(), is_batched) ||
                   std::any_of(op.writes.begin(), op.writes.end(), is_batched),
               trace_.op_name(id), " uses nothing that has a batch and cannot be split");
    for (const Use& use : op.reads) {
      const Value& value = trace_.value(use.value);
      const bool is_sum = in_range(value.producer) && !is_batched(use);
      LT_REQUIRE(!is_sum || writes(op, value.storage), trace_.op_name(id), " reads ",
                 trace_.value_name(use.value), ", which is complete only after the last part");
    }
  }

  void add_storage(StorageId id) {
    const Storage& storage = trace_.storage(id);
    if (!is_sliced_[id.slot()]) {
      new_ids_.push_back({builder_.add_storage(storage)});
      result_.storage_from.push_back(id);
      return;
    }
    std::vector<StorageId> slices;
    for (std::int32_t part = 0; part < request_.parts; ++part) {
      Storage slice = storage;
      slice.name = part_name(storage.name, part);
      slice.bytes = share(storage.bytes, request_.parts);
      for (CodecOption& codec : slice.codecs) {
        codec.bytes = share(codec.bytes, request_.parts);
        codec.encode_seconds /= request_.parts;
        codec.decode_seconds /= request_.parts;
      }
      slices.push_back(builder_.add_storage(std::move(slice)));
      result_.storage_from.push_back(id);
    }
    new_ids_.push_back(std::move(slices));
  }

  StorageId new_id(StorageId id, std::int32_t part) const {
    const std::vector<StorageId>& ids = new_ids_[id.slot()];
    return is_sliced_[id.slot()] ? ids[static_cast<std::size_t>(part)] : ids[0];
  }

  void add_op(OpId id, std::int32_t part) {
    const Op& op = trace_.op(id);
    OpSpec spec{.name = op.name, .phase = op.phase, .layer = op.layer};
    for (const Use& use : op.reads) spec.reads.push_back(new_use(use, part));
    for (const Use& use : op.writes) {
      const StorageUse written = new_use(use, part);
      spec.writes.push_back(written);
      // A later part adds to what the earlier ones left.
      if (part > 0 && !reads(spec, written.storage) && !is_sliced(use))
        spec.reads.push_back(written);
    }
    for (const StorageId view : op.views) spec.views.push_back(new_id(view, part));
    spec.frees = new_frees(id, part);
    copy_costs(op, part == kWhole ? 1 : request_.parts, spec);
    if (part != kWhole) spec.name = part_name(op.name, part);
    builder_.add_op(std::move(spec));
    result_.op_from.push_back(id);
  }

  static bool reads(const OpSpec& spec, StorageId id) {
    return std::any_of(spec.reads.begin(), spec.reads.end(),
                       [id](const StorageUse& use) { return use.storage == id; });
  }

  bool is_sliced(const Use& use) const {
    return is_sliced_[trace_.value(use.value).storage.slot()];
  }

  StorageUse new_use(const Use& use, std::int32_t part) const {
    return {new_id(trace_.value(use.value).storage, part), use.side_effect};
  }

  // A slice goes with its own part, everything else with the last one.
  std::vector<StorageId> new_frees(OpId op, std::int32_t part) const {
    std::vector<StorageId> result;
    for (const StorageId id : frees_[op.slot()]) {
      const bool now = is_sliced_[id.slot()] || part == kWhole || part == request_.parts - 1;
      if (now) result.push_back(new_id(id, part));
    }
    return result;
  }

  void copy_costs(const Op& op, std::int32_t parts, OpSpec& spec) const {
    spec.device_seconds = op.device_seconds.as_optional();
    if (spec.device_seconds) *spec.device_seconds /= parts;
    spec.host_seconds = op.host_seconds.as_optional();
    spec.workspace_bytes = share(op.workspace_bytes, parts);
    spec.flops = share(op.flops, parts);
    spec.accessed_bytes = op.accessed_bytes;
    if (parts > 1) spec.accessed_bytes = share(accessed_bytes(op), parts);
    spec.replayable = op.replayable;
    spec.random = op.random;
    spec.options = op.options;
    for (Implementation& option : spec.options) {
      option.seconds /= parts;
      option.workspace_bytes = share(option.workspace_bytes, parts);
    }
  }

  // Stated for every part: what it uses as a whole it touches in part only.
  std::int64_t accessed_bytes(const Op& op) const {
    if (op.accessed_bytes > 0) return op.accessed_bytes;
    std::int64_t bytes = 0;
    for (const Use& use : op.reads) bytes += trace_.storage_of(use.value).bytes;
    for (const Use& use : op.writes) bytes += trace_.storage_of(use.value).bytes;
    return bytes;
  }

  const Problem& problem_;
  const Trace& trace_;
  const SplitRequest& request_;
  std::vector<std::vector<StorageId>> frees_;
  std::vector<bool> is_batched_;
  std::vector<bool> is_sliced_;
  TraceBuilder builder_;
  // By old storage: the new one, or one for each part.
  std::vector<std::vector<StorageId>> new_ids_;
  Transformed result_;
};

}  // namespace

Transformed split(const Problem& problem, const SplitRequest& request) {
  check_request(*problem.trace, request);
  return Splitter(problem, request).split();
}

}  // namespace lowtide::plan
