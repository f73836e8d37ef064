// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "torch/program.h"

// The bytes of a training's state, taken out of torch: they count towards no budget.

namespace lowtide::torch_test {

struct Snapshot {
  std::string name;
  // Type and sizes.
  std::string form;
  std::size_t item_bytes = 0;
  // The elements in logical order, whatever the strides: what lies between them is nobody's.
  std::vector<std::byte> bytes;
};

using State = std::vector<Snapshot>;

// Called with a tensor before and after its bytes are read.
struct Access {
  std::function<void(const at::Tensor&)> begin = [](const at::Tensor&) {};
  std::function<void(const at::Tensor&)> end = [](const at::Tensor&) {};
};

// What training.state() gives, and the state of the device's random generator.
State take_state(const Training& training, at::Device device, const Access& access);
Snapshot take(const NamedTensor& item, const Access& access);

// What differs first, bit for bit: name, index and both elements in hexadecimal. Empty: nothing.
std::optional<std::string> first_difference(const State& wanted, const State& got);

}  // namespace lowtide::torch_test
