// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/machine.h"
#include "lowtide/trace.h"

namespace lowtide::estimate {

// A card as estimates know it.
struct Gpu {
  std::string name;
  // The memory that CUDA reports, which is a little less than what is sold.
  std::int64_t memory_bytes = 0;
  // What cuBLAS takes from torch's allocator for good, for each thread that multiplies matrices.
  std::int64_t product_workspace_bytes = 0;
  // For plans: speeds are a share of the data sheet's.
  Machine machine;
};

// What the CUDA context and the libraries' handles take beside torch's allocator. A round figure,
// not measured: it depends on the driver and on which kernels were loaded.
inline constexpr std::int64_t kContextBytes = std::int64_t{512} << 20;
// What was measured was above its estimate by less than that; see docs/estimate.md.
inline constexpr double kMargin = 0.08;

// Throws InvalidInput with the known names.
Gpu gpu_named(std::string_view name);
std::vector<std::string> gpu_names();

// The step with what the card's libraries hold in torch's allocator from the first product of
// matrices on: one more storage for the forward pass and one for the backward pass, if they have
// such ops. A recorded step that has such storages keeps its own.
Trace with_library_workspaces(const Trace& trace, const Gpu& gpu);

// Such an op takes that storage when it is the first of its phase, which decides where it comes to
// lie.
bool multiplies_matrices(const Op& op);
bool is_library_workspace(const Storage& storage, Phase phase);

}  // namespace lowtide::estimate
