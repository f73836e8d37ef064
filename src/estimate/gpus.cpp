// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/gpus.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "estimate/priced_trace.h"

namespace lowtide::estimate {
namespace {

struct Card {
  const char* name;
  double memory_gib;
  // As the data sheets have them: TB/s of memory, TFLOPS of TF32 without sparsity (of FP32 where
  // there is no TF32), GB/s of the link each way.
  double memory_speed;
  double arithmetic;
  double link;
  // Capability, processors as the data sheets have them, threads of a processor as the table of
  // compute capabilities in CUDA's programming guide has them.
  Architecture architecture;
};
constexpr std::array<Card, 10> kCards = {{{"h200", 139.8, 4.8, 495, 64, {90, 132, 2048}},
                                          {"h100-80", 79.1, 3.35, 495, 64, {90, 132, 2048}},
                                          {"a100-80", 79.2, 2.04, 156, 32, {80, 108, 2048}},
                                          {"a100-40", 39.4, 1.56, 156, 32, {80, 108, 2048}},
                                          {"l40s", 44.4, 0.86, 183, 32, {89, 142, 1536}},
                                          {"a10", 22.1, 0.6, 62, 32, {86, 72, 1536}},
                                          {"rtx4090", 23.5, 1.01, 83, 32, {89, 128, 1536}},
                                          {"rtx3090", 23.6, 0.94, 36, 32, {86, 82, 1536}},
                                          {"v100-16", 15.8, 0.9, 15.7, 16, {70, 80, 2048}},
                                          {"t4", 14.6, 0.32, 8.1, 16, {75, 40, 1024}}}};

// What kernels reach of the data sheet; the H200's own figures are in machine_named("h200").
constexpr double kReached = 0.8;

// Torch's own settings (ATen/cuda/CublasHandlePool.cpp): cuBLAS has 32 MiB on Hopper and
// ":4096:2:16:8" before, cuBLASLt 1 MiB. Together, for a forward thread with biases and a backward
// thread, they are the 65 MiB that recorded steps of the H200 hold (data/traces/README.md).
constexpr std::int64_t kHopperBytes = 32 * base::kMiB;
constexpr std::int64_t kEarlierBytes = 8'519'680;
constexpr std::int64_t kBiasedBytes = base::kMiB;

Gpu gpu_of(const Card& card) {
  constexpr int kHopper = 90;
  Gpu gpu;
  gpu.name = card.name;
  gpu.memory_bytes = static_cast<std::int64_t>(card.memory_gib * static_cast<double>(base::kGiB));
  gpu.architecture = card.architecture;
  gpu.product_workspace_bytes =
      card.architecture.capability == kHopper ? kHopperBytes : kEarlierBytes;
  gpu.biased_product_workspace_bytes = kBiasedBytes;
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

bool multiplies_matrices(const Op& op) {
  return op.name == "mm" || op.name == "addmm" || op.name == "bmm" || op.name == "baddbmm";
}

// As torch's addmm does: the biases of linear layers.
bool adds_bias(const Op& op) { return op.name == "addmm"; }

std::string product_name(Phase phase) { return base::concat("cublas_", to_string(phase)); }
std::string biased_product_name(Phase phase) { return base::concat("cublaslt_", to_string(phase)); }

using IsSuch = bool (*)(const Op& op);

bool has_op(const Trace& trace, Phase phase, IsSuch is_such) {
  return std::any_of(trace.ops().begin(), trace.ops().end(),
                     [&](const Op& op) { return op.phase == phase && is_such(op); });
}

Storage workspace(std::string name, std::int64_t bytes) {
  return {.name = std::move(name),
          .bytes = bytes,
          .kind = StorageKind::kWorkspace,
          .at_start = true,
          .at_end = true,
          .pinned = true,
          .freed_after = {},
          .codecs = {}};
}

std::vector<Storage> library_workspaces(const Trace& trace, const Gpu& gpu) {
  std::vector<Storage> workspaces;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    if (has_op(trace, phase, &multiplies_matrices)) {
      workspaces.push_back(workspace(product_name(phase), gpu.product_workspace_bytes));
    }
    if (has_op(trace, phase, &adds_bias)) {
      workspaces.push_back(
          workspace(biased_product_name(phase), gpu.biased_product_workspace_bytes));
    }
  }
  return workspaces;
}

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
  std::vector<std::int64_t> flops;
  for (const Op& op : trace.ops()) flops.push_back(op.flops);
  return priced_trace(trace, flops,
                      has_some ? std::vector<Storage>() : library_workspaces(trace, gpu));
}

bool takes_library_workspace(const Op& op, const Storage& storage) {
  if (multiplies_matrices(op) && storage.name == product_name(op.phase)) return true;
  return adds_bias(op) && storage.name == biased_product_name(op.phase);
}

bool is_library_workspace(const Storage& storage) {
  return storage.kind == StorageKind::kWorkspace && storage.name.starts_with("cublas");
}

}  // namespace lowtide::estimate
