// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/trace.h"

namespace lowtide::trace {

// The form for files that other programs read and write: JSON with "format": "lowtide-trace" and
// "version": 1; docs/trace-format.md has the fields. parse_json throws InvalidInput, naming the
// field; parse_json(print_json(t)) is t.
Trace parse_json(std::string_view text);
std::string print_json(const Trace& trace);

// Either form, told apart by the first character.
Trace parse_any(std::string_view text);

}  // namespace lowtide::trace
