// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/trace.h"

namespace lowtide::estimate {

// The same step with the arithmetic of each op, and without measured times: what ops take is then a
// question of the machine. `more` are storages that no op uses and that are there beside the
// step's. Requires: one number for each op.
Trace priced_trace(const Trace& trace, const std::vector<std::int64_t>& flops,
                   const std::vector<Storage>& more = {});

}  // namespace lowtide::estimate
