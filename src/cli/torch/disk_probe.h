// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace lowtide::cli {

// What a folder is worth as a place for spilled values.
struct DiskFacts {
  std::string folder;
  std::int64_t free_bytes = 0;
  // Why it cannot be used, in one line; empty: it can. The members below are then set.
  std::string failure;
  // "io_uring" or "threads".
  std::string io;
  // Whether the kernel's cache is passed by; else its speed is measured with the disk's.
  bool is_direct = false;
  // Whether it is no disk at all.
  bool is_memory = false;
  double write_bytes_per_second = 0;
  double read_bytes_per_second = 0;
};

// Writes so many bytes there the way a session spills them, and reads them again. Nothing is left.
// Does not throw for a folder or a disk that does not work.
DiskFacts probe_disk(const std::string& folder, std::int64_t bytes);

// Whether the kernel lets us use io_uring, and this was built with it.
bool may_use_uring();

}  // namespace lowtide::cli
