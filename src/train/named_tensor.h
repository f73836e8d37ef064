// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace lowtide {
class Session;
}

namespace lowtide::train {

// A part of a training's state, such as "parameter/fc.weight".
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
using State = std::vector<NamedTensor>;

// Calls `handle` with the tensor's elements in logical order, in host memory. A session brings the
// tensor to the device for that long; nullptr: there is none.
void with_bytes(const at::Tensor& tensor, Session* session,
                const std::function<void(std::span<const std::byte>)>& handle);

// Tells the session what the tensors are called and to which layers they belong, for captured
// steps.
void name_tensors(const State& state, Session& session);

}  // namespace lowtide::train
