// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/step.h"

namespace lowtide::cli {

// A simulated step for chrome://tracing and Perfetto: a row of ops with the phase as their
// category, a counter of device memory by kind, and for each value that the plan sends away a bar
// from its move to its fetch ("in host") and one from the fetch's issue to where it is needed
// ("coming").
std::string chrome_trace(const PlannedStep& planned);

}  // namespace lowtide::cli
