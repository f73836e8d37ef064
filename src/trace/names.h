// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace lowtide::trace {

// Names stand in the text forms of traces and plans, so they must be single words without the
// characters that have a meaning there. Throws InvalidInput otherwise; `what` says of what.
void require_name(std::string_view name, std::string_view what);

bool is_name(std::string_view name);

}  // namespace lowtide::trace
