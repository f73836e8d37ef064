// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/frees.h"

namespace lowtide::trace {
namespace {

std::vector<OpId> last_uses(const Trace& trace) {
  // What no op uses is released with the first op.
  std::vector<OpId> last(trace.storages().size(), make_id<OpId>(0));
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    const auto id = make_id<OpId>(i);
    for (const Use& use : op.reads) last[trace.value(use.value).storage.slot()] = id;
    for (const Use& use : op.writes) last[trace.value(use.value).storage.slot()] = id;
    for (const StorageId view : op.views) last[view.slot()] = id;
  }
  return last;
}

}  // namespace

std::vector<std::vector<StorageId>> frees_by_op(const Trace& trace) {
  std::vector<std::vector<StorageId>> frees(trace.ops().size());
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const OpId after = trace.storages()[i].freed_after;
    if (after.valid()) frees[after.slot()].push_back(make_id<StorageId>(i));
  }
  return frees;
}

std::vector<std::vector<StorageId>> late_frees(const Trace& trace) {
  const std::vector<OpId> last = last_uses(trace);
  std::vector<std::vector<StorageId>> frees(trace.ops().size());
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const OpId after = trace.storages()[i].freed_after;
    if (after.valid() && after != last[i]) frees[after.slot()].push_back(make_id<StorageId>(i));
  }
  return frees;
}

}  // namespace lowtide::trace
