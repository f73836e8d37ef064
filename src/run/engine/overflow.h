// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::engine {

struct Block;

// Host memory that the device can use in place, slowly: it takes the blocks that do not fit under
// the cap while nobody knows what may be evicted. Any thread may call it.
class Overflow {
 public:
  virtual ~Overflow() = default;

  // Null when there is none left.
  virtual void* allocate_overflow(std::int64_t bytes) = 0;
  // What was issued to the device so far may still use the block.
  virtual void free_overflow(void* data, const Block& block) noexcept = 0;
};

}  // namespace lowtide::engine
