// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/checkpoint.h"

#include <utility>

#include <torch/torch.h>

namespace lowtide::torch_test {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// What the context remembers of the first run.
struct FirstRun : torch::CustomClassHolder {
  FirstRun(Region region_, at::Tensor random_state_)
      : region(std::move(region_)), random_state(std::move(random_state_)) {}
  Region region;
  at::Tensor random_state;
};

at::Tensor random_state(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const at::Tensor& state) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static Variable forward(AutogradContext* context, const Variable& input, Region region) {
    const at::Generator& generator = at::globalContext().defaultGenerator(input.device());
    context->save_for_backward({input});
    const auto first = c10::make_intrusive<FirstRun>(region, random_state(generator));
    context->saved_data["first"] = c10::IValue::make_capsule(first);
    return region(input);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto first =
        c10::static_intrusive_pointer_cast<FirstRun>(context->saved_data["first"].toCapsule());
    const at::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    const at::Generator& generator = at::globalContext().defaultGenerator(input.device());
    const at::Tensor now = random_state(generator);
    set_random_state(generator, first->random_state);
    at::Tensor output;
    {
      const at::AutoGradMode with_gradients(true);
      output = first->region(input);
    }
    set_random_state(generator, now);
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), Variable()};
  }
};

}  // namespace

at::Tensor checkpoint(Region region, const at::Tensor& input) {
  return Checkpoint::apply(input, std::move(region));
}

}  // namespace lowtide::torch_test
