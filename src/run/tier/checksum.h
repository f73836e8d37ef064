// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::tier {

// XXH3 of the bytes, which differs with where they belong and with when they were written: the same
// bytes of another place or another time are found out as well.
std::uint64_t checksum(const void* data, std::int64_t bytes, std::int64_t offset,
                       std::uint64_t generation);

}  // namespace lowtide::tier
