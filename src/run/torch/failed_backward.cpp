// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/failed_backward.h"

#include <memory>

#include <torch/csrc/autograd/engine.h>

namespace lowtide::run {
namespace {

using torch::autograd::Engine;
using torch::autograd::ReadyQueue;

// What sets the queue is for those who derive from the engine.
struct QueueSetter : Engine {
  static auto get() { return &QueueSetter::init_local_ready_queue; }
};

}  // namespace

void forget_failed_backward() {
  (Engine::get_default_engine().*QueueSetter::get())(std::make_shared<ReadyQueue>());
}

}  // namespace lowtide::run
