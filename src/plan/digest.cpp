// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/digest.h"

#include "lowtide/plan.h"
#include "trace/frees.h"

namespace lowtide {
namespace {

using base::Digest;

void add_flag(Digest& digest, bool flag) { digest.add(std::int64_t{flag ? 1 : 0}); }

// Lists carry their length, so that the end of one never reads as the start of the next.
template <class List, class Add>
void add_list(Digest& digest, const List& items, Add add) {
  digest.add(static_cast<std::int64_t>(items.size()));
  for (const auto& item : items) add(item);
}

void add_storage(Digest& digest, const Storage& storage) {
  digest.add(storage.name);
  digest.add(storage.bytes);
  digest.add(to_string(storage.kind));
  add_flag(digest, storage.at_start);
  add_flag(digest, storage.at_end);
  add_flag(digest, storage.pinned);
  add_list(digest, storage.codecs, [&digest](const CodecOption& codec) {
    digest.add(codec.name);
    digest.add(codec.bytes);
    add_flag(digest, codec.lossless);
  });
}

void add_uses(Digest& digest, std::span<const Use> uses) {
  add_list(digest, uses, [&digest](const Use& use) {
    digest.add(std::int64_t{use.value.index});
    add_flag(digest, use.side_effect);
  });
}

void add_storages(Digest& digest, const std::vector<StorageId>& storages) {
  add_list(digest, storages, [&digest](StorageId id) { digest.add(std::int64_t{id.index}); });
}

void add_op(Digest& digest, const Op& op) {
  digest.add(op.name);
  digest.add(to_string(op.phase));
  add_uses(digest, op.reads);
  add_uses(digest, op.writes);
  add_storages(digest, op.views);
  digest.add(op.workspace_bytes);
  add_flag(digest, op.replayable);
  add_flag(digest, op.random);
  add_list(digest, op.options, [&digest](const Implementation& option) {
    digest.add(option.name);
    digest.add(option.workspace_bytes);
    add_flag(digest, option.bit_exact);
    add_flag(digest, option.on_host);
    add_flag(digest, option.reads_host);
  });
}

}  // namespace

std::string digest(const Trace& trace) {
  Digest result;
  add_list(result, trace.storages(), [&](const Storage& storage) { add_storage(result, storage); });
  add_list(result, trace.ops(), [&](const Op& op) { add_op(result, op); });
  add_list(result, trace::frees_by_op(trace),
           [&](const std::vector<StorageId>& frees) { add_storages(result, frees); });
  return result.text();
}

}  // namespace lowtide
