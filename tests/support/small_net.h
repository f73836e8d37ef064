// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide::support {

// One layer of a net whose training step small_net writes.
struct SmallLayer {
  enum class Kind : std::uint8_t {
    kLinear,     // has a parameter; backward reads its inputs
    kInPlace,    // overwrites its input; backward reads its result
    kBatchNorm,  // has running statistics and saved ones; backward reads its input and those
    kDropout,    // random, with a mask; backward reads the mask
    kOnce,       // may not be replayed; backward reads its result
  };
  // Of the result, and of its gradient.
  int bytes = 32;
  Kind kind = Kind::kLinear;
  // Layers whose results it reads; -1 is the input of the net. The first is the main one.
  std::vector<int> inputs{};
};

struct SmallNetOptions {
  bool has_backward = true;
  // Optimizer states for each parameter.
  int states = 1;
};

// The text form of one step: forward pass, loss, backward pass in which gradients of values with
// several readers are added up in place, and an update of each parameter.
std::string small_net(const std::string& name, const std::vector<SmallLayer>& layers,
                      const SmallNetOptions& options);

}  // namespace lowtide::support
