// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/console.h"
#include "lowtide/machine.h"
#include "lowtide/trace.h"

// What of a step takes memory and time: the largest first.

namespace lowtide::cli {

// Storages of one kind that exist at the plain peak and were made in the same place.
struct Holder {
  // Their layer, else that of the op that first wrote them, or that op where no layer is known.
  std::string place;
  StorageKind kind = StorageKind::kTemporary;
  std::size_t storages = 0;
  std::int64_t bytes = 0;
};

// Together they are the plain peak.
std::vector<Holder> holders_at_peak(const Trace& trace, const Machine& machine);

// All ops of one name.
struct OpTime {
  std::string op;
  std::size_t calls = 0;
  double device_seconds = 0;
  double host_seconds = 0;
};

// By what takes longer, the device or the host.
std::vector<OpTime> times_by_op(const Trace& trace, const Machine& machine);

// Three tables: memory at the peak by kind, and by layer and kind; time by op.
std::string profile_text(const Trace& trace, const Machine& machine, const Style& style);
// {"peak_bytes_by_kind": {...}, "holders": [...], "op_times": [...]}
nlohmann::json profile_json(const Trace& trace, const Machine& machine);

}  // namespace lowtide::cli
