// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "torch/program.h"

// Where the tests run. LT_TEST_DEVICE names it ("cuda:0"); the CPU if it is not set.

namespace lowtide::torch_test {

// The first call makes torch deterministic: one CPU thread, deterministic kernels, no TF32.
at::Device test_device();

// Why a test has to be skipped here: no such device, or a program that does not run on it. Empty:
// it need not be.
std::string why_skip();
std::string why_skip(const Program& program);

}  // namespace lowtide::torch_test

// The first line of a test that needs the device.
#define LT_SKIP_IF(reason)                                 \
  do {                                                     \
    const std::string why_skipped = (reason);              \
    if (!why_skipped.empty()) GTEST_SKIP() << why_skipped; \
  } while (false)
