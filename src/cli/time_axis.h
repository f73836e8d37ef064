// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/memory_samples.h"
#include "lowtide/trace.h"

namespace lowtide::cli {

// The lines under the area, one column for each sample: the axis, the phases of the step, the time.
std::string time_axis(const Trace& trace, const std::vector<MemorySample>& samples, double seconds,
                      const Style& style);

}  // namespace lowtide::cli
