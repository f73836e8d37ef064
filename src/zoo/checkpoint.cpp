// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/checkpoint.h"

#include <mutex>
#include <utility>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor random_state(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const at::Tensor& state) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

// What the second run needs to be like the first.
struct FirstRun : torch::CustomClassHolder {
  FirstRun(Region region_, const at::Tensor& input)
      : region(std::move(region_)),
        device(input.device()),
        random(random_state(at::globalContext().defaultGenerator(device))),
        is_autocast(at::autocast::is_autocast_enabled(device.type())),
        autocast_type(at::autocast::get_autocast_dtype(device.type())) {}

  const Region region;
  const at::Device device;
  const at::Tensor random;
  const bool is_autocast;
  const at::ScalarType autocast_type;
};

// Puts the state of the first run in place, and that of before back.
class AsInFirstRun {
 public:
  explicit AsInFirstRun(const FirstRun& first)
      : device_(first.device),
        random_before_(random_state(at::globalContext().defaultGenerator(device_))),
        was_autocast_(at::autocast::is_autocast_enabled(device_.type())),
        autocast_type_before_(at::autocast::get_autocast_dtype(device_.type())) {
    set_random_state(at::globalContext().defaultGenerator(device_), first.random);
    at::autocast::set_autocast_enabled(device_.type(), first.is_autocast);
    at::autocast::set_autocast_dtype(device_.type(), first.autocast_type);
    at::autocast::increment_nesting();
  }
  AsInFirstRun(const AsInFirstRun&) = delete;
  AsInFirstRun& operator=(const AsInFirstRun&) = delete;
  ~AsInFirstRun() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_.type(), was_autocast_);
    at::autocast::set_autocast_dtype(device_.type(), autocast_type_before_);
    set_random_state(at::globalContext().defaultGenerator(device_), random_before_);
  }

 private:
  const at::Device device_;
  const at::Tensor random_before_;
  const bool was_autocast_;
  const at::ScalarType autocast_type_before_;
};

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static Variable forward(AutogradContext* context, const Variable& input, Region region) {
    context->save_for_backward({input});
    const auto first = c10::make_intrusive<FirstRun>(std::move(region), input);
    context->saved_data["first"] = c10::IValue::make_capsule(first);
    return first->region(input);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto first =
        c10::static_intrusive_pointer_cast<FirstRun>(context->saved_data["first"].toCapsule());
    const at::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    at::Tensor output;
    {
      const AsInFirstRun state(*first);
      const at::AutoGradMode with_gradients(true);
      output = first->region(input);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), Variable()};
  }
};

}  // namespace

at::Tensor checkpoint(Region region, const at::Tensor& input) {
  return Checkpoint::apply(input, std::move(region));
}

}  // namespace lowtide::zoo
