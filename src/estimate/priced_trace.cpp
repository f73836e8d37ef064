// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/priced_trace.h"

#include <utility>

#include "base/check.h"

namespace lowtide::estimate {
namespace {

std::vector<StorageUse> storages_of(const Trace& trace, std::span<const Use> uses) {
  std::vector<StorageUse> storages;
  for (const Use& use : uses) {
    storages.push_back({trace.value(use.value).storage, use.side_effect});
  }
  return storages;
}

// By op.
std::vector<std::vector<StorageId>> frees_of(const Trace& trace) {
  std::vector<std::vector<StorageId>> frees(trace.ops().size());
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const OpId freed_after = trace.storages()[i].freed_after;
    if (freed_after.valid()) frees[freed_after.slot()].push_back(make_id<StorageId>(i));
  }
  return frees;
}

}  // namespace

Trace priced_trace(const Trace& trace, const std::vector<std::int64_t>& flops,
                   const std::vector<Storage>& more) {
  LT_REQUIRE(flops.size() == trace.ops().size(), "the step has ", trace.ops().size(),
             " ops, but the arithmetic of ", flops.size(), " is given");
  TraceBuilder builder(trace.name());
  for (Storage storage : trace.storages()) {
    storage.freed_after = OpId();
    builder.add_storage(std::move(storage));
  }
  for (const Storage& storage : more) builder.add_storage(storage);
  std::vector<std::vector<StorageId>> frees = frees_of(trace);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    builder.add_op({.name = op.name,
                    .phase = op.phase,
                    .layer = op.layer,
                    .reads = storages_of(trace, op.reads),
                    .writes = storages_of(trace, op.writes),
                    .views = op.views,
                    .frees = std::move(frees[i]),
                    .workspace_bytes = op.workspace_bytes,
                    .flops = flops[i],
                    .replayable = op.replayable,
                    .random = op.random});
  }
  return builder.build();
}

}  // namespace lowtide::estimate
