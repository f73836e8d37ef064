// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lowtide/policy.h"

namespace lowtide::cli {

// Options of a policy from the command line, each of the form KEY=VALUE. Throws UsageError.
PolicyOptions parse_options(const std::vector<std::string>& options);

}  // namespace lowtide::cli
