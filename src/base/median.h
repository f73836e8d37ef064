// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

namespace lowtide::base {

// The mean of the two in the middle if there are two; nothing if there are no values.
std::optional<double> median(std::vector<double> values);

}  // namespace lowtide::base
