// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <ATen/core/stack.h>

#include "run/torch/value.h"

namespace lowtide::run {

// The state, before the call, of the generator that an op on this device will draw from: the one
// among its arguments, else the device's default one. Nothing if it cannot be told.
std::optional<RandomState> random_state_before(const torch::jit::Stack& stack, std::size_t first,
                                               c10::Device device);

// Puts a recorded state in force, and the present one back when it goes out of scope.
class RandomStateGuard {
 public:
  explicit RandomStateGuard(const std::optional<RandomState>& state);
  ~RandomStateGuard();
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  std::optional<RandomState> before_;
};

}  // namespace lowtide::run
