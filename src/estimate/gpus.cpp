// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/gpus.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "estimate/priced_trace.h"

namespace lowtide::estimate {
namespace {

struct Card {
  const char* name;
  double memory_gib;
  // As the data sheets have them: TB/s of memory, TFLOPS of TF32 without sparsity (of FP16 where
  // there is no TF32), GB/s of the link each way.
  double memory_speed;
  double arithmetic;
  double link;
  bool is_hopper;
};
constexpr std::array<Card, 10> kCards = {{{"h200", 139.8, 4.8, 495, 64, true},
                                          {"h100-80", 79.1, 3.35, 495, 64, true},
                                          {"a100-80", 79.2, 2.04, 156, 32, false},
                                          {"a100-40", 39.4, 1.56, 156, 32, false},
                                          {"l40s", 44.4, 0.86, 183, 32, false},
                                          {"a10", 22.1, 0.6, 62, 32, false},
                                          {"rtx4090", 23.5, 1.01, 83, 32, false},
                                          {"rtx3090", 23.6, 0.94, 36, 32, false},
                                          {"v100-16", 15.8, 0.9, 125, 16, false},
                                          {"t4", 14.6, 0.32, 65, 16, false}}};

// What kernels reach of the data sheet; the H200's own figures are in machine_named("h200").
constexpr double kReached = 0.8;

// Seen in the recorded steps of the H200: 65 MiB for two threads (data/traces/README.md). Before
// Hopper torch's setting is ":4096:2:16:8", which is 8.125 MiB.
constexpr std::int64_t kHopperBytes = 34'078'720;
constexpr std::int64_t kEarlierBytes = 8'519'680;

Gpu gpu_of(const Card& card) {
  Gpu gpu;
  gpu.name = card.name;
  gpu.memory_bytes = static_cast<std::int64_t>(card.memory_gib * static_cast<double>(base::kGiB));
  gpu.product_workspace_bytes = card.is_hopper ? kHopperBytes : kEarlierBytes;
  gpu.machine = machine_named("h200");
  gpu.machine.device_bytes = gpu.memory_bytes;
  if (gpu.name != gpu.machine.name) {
    gpu.machine.name = card.name;
    gpu.machine.memory_bytes_per_second = card.memory_speed * 1e12 * kReached;
    gpu.machine.flops_per_second = card.arithmetic * 1e12 * kReached;
    gpu.machine.tiers[0].write_bytes_per_second = card.link * 1e9 * kReached;
    gpu.machine.tiers[0].read_bytes_per_second = card.link * 1e9 * kReached;
  }
  return gpu;
}

bool multiplies(const Trace& trace, Phase phase) {
  return std::any_of(trace.ops().begin(), trace.ops().end(),
                     [&](const Op& op) { return op.phase == phase && multiplies_matrices(op); });
}

std::string name_of_workspace(Phase phase) { return base::concat("cublas_", to_string(phase)); }

}  // namespace

Gpu gpu_named(std::string_view name) {
  for (const Card& card : kCards) {
    if (name == card.name) return gpu_of(card);
  }
  throw InvalidInput(base::concat("unknown GPU '", name, "'; known are ", base::join(gpu_names())));
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const Card& card : kCards) names.emplace_back(card.name);
  return names;
}

Trace with_library_workspaces(const Trace& trace, const Gpu& gpu) {
  const bool has_some =
      std::any_of(trace.storages().begin(), trace.storages().end(), [](const Storage& storage) {
        return storage.kind == StorageKind::kWorkspace && storage.at_start;
      });
  std::vector<Storage> workspaces;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    if (has_some || !multiplies(trace, phase)) continue;
    workspaces.push_back({.name = name_of_workspace(phase),
                          .bytes = gpu.product_workspace_bytes,
                          .kind = StorageKind::kWorkspace,
                          .at_start = true,
                          .at_end = true,
                          .pinned = true,
                          .freed_after = {},
                          .codecs = {}});
  }
  std::vector<std::int64_t> flops;
  for (const Op& op : trace.ops()) flops.push_back(op.flops);
  return priced_trace(trace, flops, workspaces);
}

bool multiplies_matrices(const Op& op) {
  return op.name == "mm" || op.name == "addmm" || op.name == "bmm" || op.name == "baddbmm";
}

bool is_library_workspace(const Storage& storage, Phase phase) {
  return storage.kind == StorageKind::kWorkspace && storage.name == name_of_workspace(phase);
}

}  // namespace lowtide::estimate
