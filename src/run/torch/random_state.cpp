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

std::vector<RandomState> random_states_before(const torch::jit::Stack& stack, std::size_t first,
                                              c10::Device device, bool is_foreign) {
  std::vector<at::Generator> generators;
  for (std::size_t i = first; i < stack.size(); ++i) {
    if (stack[i].isGenerator()) generators.push_back(stack[i].toGenerator());
  }
  at::Context& context = at::globalContext();
  if (generators.empty() || is_foreign) generators.push_back(context.defaultGenerator(device));
  if (is_foreign && !device.is_cpu()) generators.push_back(context.defaultGenerator(at::kCPU));
  std::vector<RandomState> states;
  for (at::Generator& generator : generators) {
    // Another device's generator would say nothing about this op.
    if (!is_foreign && generator.device().type() != device.type()) return {};
    states.push_back({generator, state_of(generator)});
  }
  return states;
}

RandomStateGuard::RandomStateGuard(const std::vector<RandomState>& states) {
  if (states.empty()) return;
  turn_ = turn_to_draw();
  for (const RandomState& state : states) {
    before_.push_back({state.generator, {}});
    before_.back().state = state_of(before_.back().generator);
    set_state(before_.back().generator, state.state);
  }
}

RandomStateGuard::~RandomStateGuard() {
  // Backwards: the same generator may have been named twice.
  for (std::size_t i = before_.size(); i > 0; --i) {
    set_state(before_[i - 1].generator, before_[i - 1].state);
  }
}

}  // namespace lowtide::run
