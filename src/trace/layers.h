// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/trace.h"
#include "trace/lifetimes.h"

namespace lowtide::trace {

inline constexpr std::size_t kPhases = 4;

// The ops that bear one layer's name.
struct Layer {
  std::string name;
  // By phase, each in order of execution.
  std::array<std::vector<OpId>, kPhases> ops_by_phase;

  const std::vector<OpId>& ops(Phase phase) const {
    return ops_by_phase[static_cast<std::size_t>(phase)];
  }
};

// The layers in order of their first forward op; those without one come after, in order of their
// first op. Empty when the trace names no layers, as that of an imported log does not.
std::vector<Layer> layers(const Trace& trace);

// Where each phase begins in the trace's own order; nothing for a phase without ops. Phases may
// interleave, so the first backward op need not come after the last forward one.
class PhaseStarts {
 public:
  explicit PhaseStarts(const Trace& trace);
  std::optional<Tick> of(Phase phase) const { return first_[static_cast<std::size_t>(phase)]; }

 private:
  std::array<std::optional<Tick>, kPhases> first_;
};

}  // namespace lowtide::trace
