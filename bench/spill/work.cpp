// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "work.h"

namespace lowtide::bench {
namespace {

// Multiplies every channel by a number of its own.
struct ScaleImpl : torch::nn::Module {
  explicit ScaleImpl(std::int64_t width)
      : factors(register_parameter("factors", 1 + 0.1 * at::randn({width}))) {}
  at::Tensor forward(const at::Tensor& input) { return input * factors; }
  at::Tensor factors;
};
TORCH_MODULE(Scale);

}  // namespace

Work::Work(const WorkOptions& options) {
  torch::manual_seed(1);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    net_->push_back(Scale(options.width));
    net_->push_back(torch::nn::ReLU());
  }
  const at::Device device(options.device);
  net_->to(device);
  input_ = at::randn({options.batch, options.width}).to(device);
  optimizer_ = std::make_unique<torch::optim::SGD>(net_->parameters(),
                                                   torch::optim::SGDOptions(0.01).momentum(0.9));
}

void Work::step() {
  optimizer_->zero_grad();
  net_->forward(input_).square().mean().backward();
  optimizer_->step();
}

at::Tensor Work::parameters() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& parameter : net_->parameters()) {
    all.push_back(parameter.detach().cpu().flatten());
  }
  return at::cat(all);
}

}  // namespace lowtide::bench
