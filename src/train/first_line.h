// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace lowtide::train {

// What torch says goes on with where it was said; the first line is what a user reads.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace lowtide::train
