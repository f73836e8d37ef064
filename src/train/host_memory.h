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

// What a training on the CPU may take, where values that are moved to host memory lie beside what
// they make room for.
struct HostShare {
  std::int64_t budget_bytes = 0;
  // For moved values.
  std::int64_t host_cap_bytes = 0;
};

// Both together stay within three quarters of what is free, and leave libraries what they take
// beside tensors: whoever takes more than there is gets ended by the kernel. `host_cap_bytes`: what
// was asked for; nothing: as much as is left, and 0 if values are not moved. Throws OutOfMemory if
// so little is free that nothing could be tried.
HostShare share_of(const HostMemory& memory, std::int64_t budget_bytes,
                   std::optional<std::int64_t> host_cap_bytes);

}  // namespace lowtide::train
