// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/programs/throwing.h"

#include <string>
#include <utility>

#include <torch/torch.h>

#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;
constexpr int kDepth = 12;

// The identity, whose backward throws.
struct ThrowInBackward : torch::autograd::Function<ThrowInBackward> {
  static Variable forward(AutogradContext*, const Variable& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, const variable_list&) {
    throw PlannedFailure("thrown by backward");
  }
};

class Fragile : public torch::nn::Module {
 public:
  Fragile() {
    for (int i = 0; i < kDepth; ++i) {
      layers_.push_back(
          register_module("linear" + std::to_string(i), torch::nn::Linear(kWidth, kWidth)));
    }
  }

  // `where` applies to the layer in the middle.
  at::Tensor forward(at::Tensor x, std::optional<ThrowsIn> where) {
    for (int i = 0; i < kDepth; ++i) {
      if (i == kDepth / 2 && where == ThrowsIn::kForward) {
        throw PlannedFailure("thrown by forward");
      }
      if (i == kDepth / 2 && where == ThrowsIn::kBackward) x = ThrowInBackward::apply(x);
      x = at::dropout(layers_[static_cast<std::size_t>(i)]->forward(x).relu_(), 0.1, true);
    }
    return x;
  }

 private:
  std::vector<torch::nn::Linear> layers_;
};

std::unique_ptr<Training> make(ThrowsIn where, at::Device device, std::uint64_t seed) {
  auto model = make_model<Fragile>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor y = model->forward(inputs.select(0, i % 4),
                                        step_throws(i) ? std::optional(where) : std::nullopt);
    return at::mse_loss(y, inputs.select(0, (i + 1) % 4));
  });
}

}  // namespace

bool step_throws(int i) { return i % 3 == 1; }

Program throwing_program(ThrowsIn where) {
  const std::string name =
      where == ThrowsIn::kForward ? "throwing_in_forward" : "throwing_in_backward";
  return {name,
          [where](at::Device device, std::uint64_t seed) { return make(where, device, seed); }};
}

at::Tensor throw_in_backward(const at::Tensor& x) { return ThrowInBackward::apply(x); }

}  // namespace lowtide::torch_test
