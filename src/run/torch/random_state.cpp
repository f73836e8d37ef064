// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/random_state.h"

#include <mutex>

#include <ATen/Context.h>

namespace lowtide::run {
namespace {

at::Tensor state_of(at::Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator& generator, const at::Tensor& state) {
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

TurnToDraw turn_to_draw() {
  // Never destroyed: threads may outlive static objects.
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return TurnToDraw(mutex);
}

std::optional<RandomState> random_state_before(const torch::jit::Stack& stack, std::size_t first,
                                               c10::Device device) {
  RandomState result;
  for (std::size_t i = first; i < stack.size(); ++i) {
    if (stack[i].isGenerator()) result.generator = stack[i].toGenerator();
  }
  if (!result.generator.defined()) result.generator = at::globalContext().defaultGenerator(device);
  // Another device's generator would say nothing about this op.
  if (result.generator.device().type() != device.type()) return std::nullopt;
  result.state = state_of(result.generator);
  return result;
}

RandomStateGuard::RandomStateGuard(const std::optional<RandomState>& state) {
  if (!state) return;
  turn_ = turn_to_draw();
  before_ = RandomState{state->generator, {}};
  before_->state = state_of(before_->generator);
  set_state(before_->generator, state->state);
}

RandomStateGuard::~RandomStateGuard() {
  if (before_) set_state(before_->generator, before_->state);
}

}  // namespace lowtide::run
