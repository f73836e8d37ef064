// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/lenet.h"

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kKernel = 5;
// Of which S4 has one pixel.
constexpr std::int64_t kSmallestSize = 16;

std::int64_t size_after_stage(std::int64_t size) { return (size - kKernel + 1) / 2; }

class LeNet : public torch::nn::Module {
 public:
  explicit LeNet(const InputShape& input) {
    const std::int64_t size = size_after_stage(size_after_stage(input.size));
    c1_ = register_module("c1", torch::nn::Conv2d(input.channels, 6, kKernel));
    c3_ = register_module("c3", torch::nn::Conv2d(6, 16, kKernel));
    c5_ = register_module("c5", torch::nn::Linear(16 * size * size, 120));
    f6_ = register_module("f6", torch::nn::Linear(120, 84));
    output_ = register_module("output", torch::nn::Linear(84, input.classes));
  }

  at::Tensor forward(const at::Tensor& pictures) {
    at::Tensor x = at::avg_pool2d(c1_->forward(pictures).tanh_(), 2);
    x = at::avg_pool2d(c3_->forward(x).tanh_(), 2);
    x = c5_->forward(x.flatten(1)).tanh_();
    return output_->forward(f6_->forward(x).tanh_());
  }

 private:
  torch::nn::Conv2d c1_{nullptr}, c3_{nullptr};
  torch::nn::Linear c5_{nullptr}, f6_{nullptr}, output_{nullptr};
};

}  // namespace

Model make_lenet5(const ModelOptions& options) {
  const InputShape input =
      input_of(options, {.channels = 1, .size = 32, .classes = 10}, kSmallestSize);
  return model_of(std::make_shared<LeNet>(input), input);
}

}  // namespace lowtide::zoo
