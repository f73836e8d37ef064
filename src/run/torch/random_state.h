// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <vector>

#include <ATen/core/stack.h>

#include "run/torch/value.h"

namespace lowtide::run {

using TurnToDraw = std::unique_lock<std::recursive_mutex>;

// Held from before a random op's state is written down until the op has drawn, and while a replay
// has put another state in force: what other threads draw must not come in between. Recursive,
// since the body of a random op may be a program's own code, whose ops draw or are replayed in
// their turn. Taken before the restorer's turn and before the books' lock, never under them.
[[nodiscard]] TurnToDraw turn_to_draw();

// The state, before the call, of the generator that an op on this device will draw from: the one
// among its arguments, else the device's default one. Nothing if it cannot be told. A foreign op
// may draw from any of these, and from the CPU's default one.
std::vector<RandomState> random_states_before(const torch::jit::Stack& stack, std::size_t first,
                                              c10::Device device, bool is_foreign);

// Puts recorded states in force, and the present ones back when it goes out of scope.
class RandomStateGuard {
 public:
  explicit RandomStateGuard(const std::vector<RandomState>& states);
  ~RandomStateGuard();
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  TurnToDraw turn_;
  std::vector<RandomState> before_;
};

}  // namespace lowtide::run
