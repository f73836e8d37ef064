// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lowtide::base {

// "; did you mean 'plan'?" for the known name that is nearest to what was typed, and nothing if
// none is near.
std::string suggestion(std::string_view typed, const std::vector<std::string>& known);

// "a, b, c".
std::string join(const std::vector<std::string>& names);

}  // namespace lowtide::base
