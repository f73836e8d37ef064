// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/summary.h"

namespace lowtide::trace {

Summary summary(const Trace& trace) {
  Summary result;
  result.ops = trace.ops().size();
  result.storages = trace.storages().size();
  result.values = trace.values().size();
  result.layers = layers(trace).size();
  for (const Op& op : trace.ops()) {
    ++result.ops_by_phase[static_cast<std::size_t>(op.phase)];
    if (op.in_place) ++result.in_place_ops;
    if (!op.replayable) ++result.once_ops;
    if (!op.device_seconds) ++result.unmeasured_ops;
    result.total_seconds += op.device_seconds.value_or(0);
  }
  for (const Storage& storage : trace.storages()) {
    const auto kind = static_cast<std::size_t>(storage.kind);
    ++result.storages_by_kind[kind];
    result.bytes_by_kind[kind] += storage.bytes;
  }
  return result;
}

}  // namespace lowtide::trace
