// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/checksum.h"

// Only the header is needed to build, and nothing to run.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lowtide::tier {

std::uint64_t checksum(const void* data, std::int64_t bytes, std::int64_t offset,
                       std::uint64_t generation) {
  const std::uint64_t place[] = {static_cast<std::uint64_t>(offset), generation};
  const std::uint64_t seed = XXH3_64bits(place, sizeof(place));
  return XXH3_64bits_withSeed(data, static_cast<std::size_t>(bytes), seed);
}

}  // namespace lowtide::tier
