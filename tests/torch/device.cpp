// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/device.h"

#include <cstdlib>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace lowtide::torch_test {
namespace {

at::Device prepare() {
  // Read by cuBLAS when it makes its first handle; other settings of it are not deterministic.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const char* named = std::getenv("LT_TEST_DEVICE");
  const at::Device device(named != nullptr && *named != '\0' ? named : "cpu");
  at::Context& context = at::globalContext();
  // An op without a deterministic kernel throws. To be only warned would also mean that
  // memory-efficient attention takes its other backward, which is not deterministic.
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  // Users' programs do not fill what is uninitialised; an error that this would hide should show.
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
  at::set_num_threads(1);
  return device;
}

}  // namespace

at::Device test_device() {
  static const at::Device device = prepare();
  return device;
}

std::string why_skip() {
  const at::Device device = test_device();
  if (device.is_cpu()) return {};
  if (!device.is_cuda()) return "the tests know no device " + device.str();
  if (!at::globalContext().hasCUDA()) return "torch sees no GPU here";
  if (device.index() >= static_cast<int>(at::getNumGPUs())) return "there is no " + device.str();
  return {};
}

std::string why_skip(const Program& program) {
  std::string reason = why_skip();
  if (reason.empty() && !test_device().is_cpu()) reason = program.cpu_only;
  return reason;
}

}  // namespace lowtide::torch_test
