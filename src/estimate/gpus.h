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

// What torch chooses its kernels by, and how wide these spread.
struct Architecture {
  // CUDA's compute capability, times ten: 90 is Hopper.
  int capability = 90;
  std::int64_t processors = 132;
  // How many threads a processor holds at once.
  std::int64_t threads_each = 2048;

  // Ampere was the first to multiply matrices of bfloat16, and to have TF32.
  bool multiplies_bf16() const { return capability >= 80; }
};

// A card as estimates know it.
struct Gpu {
  std::string name;
  // The memory that CUDA reports, which is a little less than what is sold.
  std::int64_t memory_bytes = 0;
  Architecture architecture;
  // What cuBLAS takes from torch's allocator for good, for each thread that multiplies matrices,
  // and cuBLASLt beside it for each that adds a bias while it does.
  std::int64_t product_workspace_bytes = 0;
  std::int64_t biased_product_workspace_bytes = 0;
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
// matrices on: storages for the forward pass and for the backward pass, if they have such ops. A
// recorded step that has such storages keeps its own.
Trace with_library_workspaces(const Trace& trace, const Gpu& gpu);

// Whether the op takes this storage if nobody did before: when the first product of a phase does so
// decides where it comes to lie.
bool takes_library_workspace(const Op& op, const Storage& storage);
bool is_library_workspace(const Storage& storage);

}  // namespace lowtide::estimate
