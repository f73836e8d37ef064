// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace lowtide::bench {

struct DiskSpeed {
  double write_bytes_per_second = 0;
  double read_bytes_per_second = 0;
};

// What the disk of the folder does by itself: one file, written and read once from end to end in
// pieces of this size with so many under way, past the kernel's cache; nothing is checked.
DiskSpeed measure_disk(const std::string& folder, std::int64_t bytes, std::int64_t piece_bytes,
                       int depth);

}  // namespace lowtide::bench
