// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace lowtide::policy {

// For tests of rules that choose among values by their last uses.
// When t is made a was used a second ago, b and c earlier; 16 bytes, if nothing goes.
inline constexpr std::string_view kStaleValues = R"(
storage w 1 parameter start end
storage a 3 activation
storage b 3 activation
storage c 3 activation
storage t 6 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op fc forward : w -> c
op use forward : a ->
op ft forward : w -> t
op g backward : a b c -> d
)";

}  // namespace lowtide::policy
