// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/trace.h"

namespace lowtide::trace {

// The terse form of a trace, one line a storage or op; docs/trace-format.md describes it.
// parse_text throws InvalidInput naming the line; print_text(parse_text(t)) is a fixed point.
Trace parse_text(std::string_view text);
std::string print_text(const Trace& trace);

// True if the text begins as a text trace does.
bool looks_like_text(std::string_view text);

}  // namespace lowtide::trace
