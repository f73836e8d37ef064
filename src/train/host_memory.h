// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lowtide::train {

// The memory of this machine, as the kernel tells it.
struct HostMemory {
  std::int64_t total_bytes = 0;
  // What our control group (a container, say) may take, if that is less.
  std::optional<std::int64_t> limit_bytes{};
  // What can be taken before the kernel ends somebody for it: files that it has in memory can go.
  std::int64_t free_bytes = 0;
};

// `root`: where proc/ and sys/ are. What cannot be read there counts as no limit, and as nothing
// free.
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace lowtide::train
