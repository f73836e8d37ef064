// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "run/cuda/cuda_device.h"
#include "run/cuda/cuda_gate.h"

namespace lowtide::cuda {

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Tests that need a GPU: skipped, saying so, where there is none. Each starts with the gate in
// place and no cap, and leaves torch as it was.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_is_available()) GTEST_SKIP() << "there is no GPU here";
    use_device({});
  }

  void TearDown() override {
    if (device_ == nullptr) return;
    c10::cuda::device_synchronize();
    ledger().set_budget(engine::Ledger::kNoBudget);
    ledger().set_evictor(nullptr);
    device_.reset();
    gate().emptyCache();
  }

  void use_device(const CudaDeviceOptions& options) {
    device_ = make_cuda_device(0, options);
    device_->install();
  }

  engine::Device& device() { return *device_; }
  engine::Ledger& ledger() { return device_->ledger(); }
  CudaGate& gate() { return CudaGate::instance(); }
  // Of torch's own allocator and of our pages.
  std::int64_t allocated_bytes() { return gate().getDeviceStats(0).allocated_bytes[0].current; }
  std::int64_t reserved_bytes() { return gate().getDeviceStats(0).reserved_bytes[0].current; }

  static at::Tensor empty_bytes(std::int64_t bytes) {
    return at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
  }
  static at::Tensor empty_ints(std::int64_t count) {
    return at::empty({count}, at::TensorOptions().dtype(at::kInt).device(at::kCUDA));
  }

 private:
  std::unique_ptr<engine::Device> device_;
};

}  // namespace lowtide::cuda
