// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// More statements of random programs: what is turned, shared or hung on to behind the ops.
#include <utility>

#include <ATen/Parallel.h>

#include "torch/random_training.h"

namespace lowtide::torch_test {

Switches::Switches() : threads_(at::get_num_threads()) {}

Switches::~Switches() { reset(); }

void Switches::reset() {
  at::Context& context = at::globalContext();
  if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
  context.setUserEnabledMkldnn(true);
  context.setDeterministicAlgorithms(false, false);
  context.setSDPUseFlash(true);
  context.setSDPUseMath(true);
  at::Context::setFlushDenormal(false);
}

void Switches::turn(std::int64_t which, bool is_on) {
  at::Context& context = at::globalContext();
  switch (which) {
    case 0:
      return at::set_num_threads(is_on ? 2 : 1);
    case 1:
      return context.setUserEnabledMkldnn(is_on);
    case 2:
      return context.setDeterministicAlgorithms(is_on, /*warn_only=*/true);
    case 3:
      context.setSDPUseMath(true);
      return context.setSDPUseFlash(is_on);
    default:
      at::Context::setFlushDenormal(is_on);
      return;
  }
}

void RandomTraining::turn_a_switch() {
  const std::int64_t which = below(5);
  switches_.turn(which, chance(50));
}

// So small that it makes a difference what a processor does with such numbers.
void RandomTraining::tiny_numbers() {
  const at::Tensor x = square().detach();
  put((x * 1e-30) * 1e-9 * 1e36);
}

void RandomTraining::many_small_tensors() {
  const at::Tensor x = square();
  std::vector<at::Tensor> rows = x.unbind(0);
  for (at::Tensor& row : rows) row = row * 0.5 + 1;
  put(at::stack(rows));
}

// Copies that torch makes when one of them is written.
void RandomTraining::lazy_copies() {
  const torch::NoGradGuard no_grad;
  at::Tensor x = square().detach().clone();
  at::Tensor copy = at::_lazy_clone(x);
  at::Tensor product = copy * 2;
  (chance(50) ? x : copy).narrow(0, 0, 9).add_(1);
  put(std::move(x));
  put(std::move(copy));
  put(std::move(product));
}

void RandomTraining::hooks() {
  at::Tensor x = rows_of_floats();
  if (!x.requires_grad()) return;
  switch (below(3)) {
    case 0:
      x.register_hook([](const at::Tensor& gradient) { return gradient * 0.5; });
      return put(x * 1.5);
    case 1: {
      // A pass of its own inside of the pass.
      const at::Tensor w = weight();
      x.register_hook([w](const at::Tensor& gradient) {
        const at::AutoGradMode with_gradients(true);
        const at::Tensor y = gradient.detach().requires_grad_();
        return gradient + torch::autograd::grad({at::mm(y, w).tanh().sum()}, {y})[0] * 0.01;
      });
      return put(x.tanh());
    }
    default: {
      x = x * 0.7;
      x.retain_grad();
      put(x.square().mean() + x);
      return put(x);
    }
  }
}

void RandomTraining::second_derivatives() {
  const at::Tensor x = rows_of_floats().detach().clone().requires_grad_();
  const at::Tensor w = weight();
  const at::Tensor y = at::mm(x, w).tanh().square().sum();
  const at::Tensor slope = torch::autograd::grad({y}, {x}, {}, true, true)[0];
  const at::Tensor penalty = (slope.norm(2, 1) - 1).square().mean();
  penalty.backward({}, /*keep_graph=*/true);
  if (chance(50)) penalty.backward();
  put(slope.detach());
}

// The same bytes as numbers of another type, one of them written.
void RandomTraining::other_types() {
  const torch::NoGradGuard no_grad;
  at::Tensor x = square().detach().clone();
  at::Tensor whole = at::empty({0}, at::kInt);
  whole.set_(x.storage(), 0, {kSide, kSide}, {kSide, 1});
  const at::Tensor before = x * 2;
  whole.narrow(0, 3, 40).bitwise_and_(0x3fffffff);
  x.view(at::kShort).select(1, 0).bitwise_and_(0x7f00);
  put(whole.to(at::kFloat) * 1e-9);
  put(before);
  put(x.nan_to_num(0, 1, -1).clamp(-4, 4));
}

void RandomTraining::deep_copies() {
  const at::Tensor x = any().detach();
  if (x.numel() == 0) return;
  at::Tensor copy = chance(50) ? x.clone() : at::empty_like(x).copy_(x);
  if (copy.is_floating_point()) copy.requires_grad_().mutable_grad() = copy.detach() * 0.5;
  put(copy.is_floating_point() ? copy.grad() : copy);
}

}  // namespace lowtide::torch_test
