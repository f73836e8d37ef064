// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <c10/core/Allocator.h>

namespace lowtide::estimate {

// While it lives, torch's CPU allocator gives addresses and no memory: tensors of any size can be
// made as long as nobody writes to them. (What is written all the same, single numbers mostly, is
// kept.) One at a time, opened before the session that counts the bytes; tensors made meanwhile
// must not outlive it.
class NoMemory {
 public:
  // Throws DeviceError if the machine does not give so many addresses.
  NoMemory();
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

  // Whether a block came from here.
  static bool owns(const void* block);

 private:
  c10::Allocator* before_;
};

}  // namespace lowtide::estimate
