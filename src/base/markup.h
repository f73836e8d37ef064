// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace lowtide::base {

// `text` as it may stand between tags of XML or HTML and in quoted attributes.
std::string markup_escaped(std::string_view text);

}  // namespace lowtide::base
