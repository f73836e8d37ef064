// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>

#include "torch/program.h"

// Programs some of whose steps throw half-way. They are not among programs().

namespace lowtide::torch_test {

class PlannedFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ThrowsIn : std::uint8_t { kForward, kBackward };

// Whether step i throws PlannedFailure: some do, and both the first and the last of ten do not.
bool step_throws(int i);

Program throwing_program(ThrowsIn where);

// The identity, whose backward throws PlannedFailure.
at::Tensor throw_in_backward(const at::Tensor& x);

}  // namespace lowtide::torch_test
