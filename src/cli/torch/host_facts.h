// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "train/host_memory.h"

namespace lowtide::cli {

struct HostFacts {
  // Of the machine, and what our control group lets us take of it and is free.
  train::HostMemory memory{};
  // How much memory a process may lock; nothing: as much as there is.
  std::optional<std::int64_t> lock_limit_bytes;
  int processors = 0;
  // That torch runs an op on.
  int threads = 0;
  std::string torch_built;
  // Empty: it does not say.
  std::string torch_loaded;
  // cuFile, NVIDIA's way from the disk to the GPU.
  bool has_cufile = false;
};

HostFacts probe_host();

// "2.11.0" of the text in which torch says how it was built; empty if it is not there.
std::string version_in(std::string_view torch_config);

// Of a version such as "2.11.0+cu128", what libraries must have in common: "2.11".
std::string series_of(std::string_view version);

}  // namespace lowtide::cli
