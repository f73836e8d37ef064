// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "lowtide/session.h"

namespace lowtide::capi {

// The options of a session from a JSON object with their names. Throws InvalidInput for what is no
// such object, an unknown name or a value of another type.
SessionOptions parse_options(std::string_view text);

}  // namespace lowtide::capi
