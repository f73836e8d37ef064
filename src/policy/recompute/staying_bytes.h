// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/trace.h"
#include "plan/source_holds.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// By tick, the end of the step included: the bytes of all values that do not leave, in the prelude
// and while the op runs, without its workspace.
struct StayingBytes {
  StayingBytes(const Trace& trace, const trace::Lifetimes& lifetimes, const cost::CostTable& costs,
               const std::vector<bool>& leaves, const std::vector<plan::ExtendedLife>& holds);

  std::vector<std::int64_t> before;
  std::vector<std::int64_t> during;
};

}  // namespace lowtide::policy
