// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/host_memory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/numbers.h"
#include "base/words.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

// The number after this word at the beginning of a line; an empty word: the first of the file.
// Nothing also if there is a word in its place, such as "max".
std::optional<std::int64_t> number_in(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string_view> words = base::split_words(line);
    const std::size_t place = key.empty() ? 0 : 1;
    if (words.size() <= place || (!key.empty() && words[0] != key)) continue;
    return base::parse_number<std::int64_t>(words[place]);
  }
  return std::nullopt;
}

std::int64_t kibibytes_in(const fs::path& file, const std::string& key) {
  return number_in(file, key).value_or(0) << 10;
}

// How the kernel calls things in one of the two versions of control groups.
struct Hierarchy {
  // What a line of /proc/self/cgroup has between its colons.
  const char* controller;
  const char* mount;
  const char* limit;
  const char* usage;
  // Of memory.stat: the files in memory, which the kernel takes back before it ends anybody.
  std::array<const char*, 2> files;
};

constexpr Hierarchy kHierarchies[] = {
    {"", "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"memory",
     "sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

// Code and buffers of libraries came to some 150 MiB.
constexpr std::int64_t kBesideTensorsBytes = 192 * base::kMiB;
// Moving takes some; then a batch that does not train is one that this machine has no memory for.
constexpr std::int64_t kLeastHostBytes = 64 * base::kMiB;

// The path of our group, "/" if that is not told: where only a part of the tree is mounted, the
// group is at its top.
fs::path group_in(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string_view> parts = base::split_on(line, ':');
    if (parts.size() == 3 && parts[1] == hierarchy.controller) return parts[2];
  }
  return "/";
}

// A group may take what all groups around it leave it.
void apply(const Hierarchy& hierarchy, const fs::path& root, HostMemory& memory) {
  const fs::path top = root / hierarchy.mount;
  for (fs::path group = group_in(hierarchy, root);; group = group.parent_path()) {
    const fs::path folder = top / group.relative_path();
    const std::optional<std::int64_t> limit = number_in(folder / hierarchy.limit, "");
    if (limit && *limit < memory.limit_bytes.value_or(memory.total_bytes)) {
      memory.limit_bytes = limit;
    }
    if (limit) {
      std::int64_t used = number_in(folder / hierarchy.usage, "").value_or(0);
      for (const char* files : hierarchy.files) {
        used -= number_in(folder / "memory.stat", files).value_or(0);
      }
      const std::int64_t left = std::max<std::int64_t>(*limit - std::max<std::int64_t>(used, 0), 0);
      memory.free_bytes = std::min(memory.free_bytes, left);
    }
    if (!group.has_relative_path()) return;
  }
}

}  // namespace

HostMemory host_memory(const fs::path& root) {
  const fs::path facts = root / "proc/meminfo";
  HostMemory memory = {.total_bytes = kibibytes_in(facts, "MemTotal:"),
                       .free_bytes = kibibytes_in(facts, "MemAvailable:")};
  for (const Hierarchy& hierarchy : kHierarchies) apply(hierarchy, root, memory);
  return memory;
}

HostShare share_of(const HostMemory& memory, std::int64_t budget_bytes,
                   std::optional<std::int64_t> host_cap_bytes) {
  const std::int64_t usable =
      std::min(memory.free_bytes / 4 * 3, memory.free_bytes - kBesideTensorsBytes);
  if (usable < 2 * kLeastHostBytes) {
    throw OutOfMemory(base::concat("this machine, or its control group, has ",
                                   base::format_bytes(memory.free_bytes),
                                   " of memory free: too little to try what fits"));
  }
  const bool may_move = !host_cap_bytes || *host_cap_bytes > 0;
  const std::int64_t most = may_move ? usable - kLeastHostBytes : usable;
  const std::int64_t budget = std::min(budget_bytes, most);
  return {.budget_bytes = budget,
          .host_cap_bytes = std::min(host_cap_bytes.value_or(usable), usable - budget)};
}

}  // namespace lowtide::train
