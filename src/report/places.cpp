// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/places.h"

namespace lowtide::report {

std::string place_of(const Op& op) { return op.layer.empty() ? op.name : op.layer; }

std::string place_of(const Trace& trace, StorageId storage) {
  if (const std::string& layer = trace.storage(storage).layer; !layer.empty()) return layer;
  const auto versions = trace.versions(storage);
  if (versions.empty()) return "(never written)";
  const Value& first = trace.value(versions.front());
  return first.is_source() ? "(before the step)" : place_of(trace.op(first.producer));
}

}  // namespace lowtide::report
