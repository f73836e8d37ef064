// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "lowtide/trace.h"
#include "trace/layers.h"

namespace lowtide::trace {

// What a trace holds, in numbers: for `lowtide check` and for messages.
struct Summary {
  std::size_t ops = 0;
  std::size_t storages = 0;
  std::size_t values = 0;
  std::size_t layers = 0;
  // Ops that write in place, that may not be replayed, and whose device time was not measured.
  std::size_t in_place_ops = 0;
  std::size_t once_ops = 0;
  std::size_t unmeasured_ops = 0;
  std::array<std::size_t, kPhases> ops_by_phase{};
  // Sizes as traced, each storage once; they need not all exist at the same time.
  std::array<std::size_t, kStorageKinds> storages_by_kind{};
  std::array<std::int64_t, kStorageKinds> bytes_by_kind{};
  // Measured device time; unmeasured ops count as nothing.
  double total_seconds = 0;

  std::size_t ops_in(Phase phase) const { return ops_by_phase[static_cast<std::size_t>(phase)]; }
  std::size_t storages_of(StorageKind kind) const {
    return storages_by_kind[static_cast<std::size_t>(kind)];
  }
  std::int64_t bytes_of(StorageKind kind) const {
    return bytes_by_kind[static_cast<std::size_t>(kind)];
  }
};

Summary summary(const Trace& trace);

}  // namespace lowtide::trace
