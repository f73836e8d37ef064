// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/first_values.h"

#include <algorithm>
#include <cmath>

#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace lowtide::zoo {
namespace {

void set_convolutions(torch::nn::Module& net, torch::nn::init::FanModeType by) {
  for (const auto& module : net.modules(/*include_self=*/false)) {
    auto* layer = module->as<torch::nn::Conv2d>();
    if (layer == nullptr) continue;
    torch::nn::init::kaiming_normal_(layer->weight, 0, by, torch::kReLU);
    if (layer->bias.defined()) torch::nn::init::zeros_(layer->bias);
  }
}

}  // namespace

void set_convolutions_by_outputs(torch::nn::Module& net) { set_convolutions(net, torch::kFanOut); }

void set_convolutions_by_inputs(torch::nn::Module& net) { set_convolutions(net, torch::kFanIn); }

void set_linears(torch::nn::Module& net, double deviation) {
  for (const auto& module : net.modules(/*include_self=*/false)) {
    auto* layer = module->as<torch::nn::Linear>();
    if (layer == nullptr) continue;
    torch::nn::init::normal_(layer->weight, 0, deviation);
    if (layer->bias.defined()) torch::nn::init::zeros_(layer->bias);
  }
}

void set_all_cut_off(torch::nn::Module& net, double deviation) {
  for (const auto& module : net.modules(/*include_self=*/false)) {
    if (auto* layer = module->as<torch::nn::Conv2d>()) set_cut_off(layer->weight, deviation);
    if (auto* layer = module->as<torch::nn::Linear>()) set_cut_off(layer->weight, deviation);
  }
}

void set_cut_off(const at::Tensor& weight, double deviation) {
  constexpr double kBound = 2;
  const torch::NoGradGuard no_grad;
  // By the inverse of the distribution: what lies outside the bounds is never drawn.
  // The largest float below 1 is the end of it, since the inverse of 1 is infinite.
  const double reach = std::min(std::erf(kBound / (deviation * std::sqrt(2.0))), 0x1.fffffep-1);
  weight.uniform_(-reach, reach).erfinv_().mul_(deviation * std::sqrt(2.0));
  weight.clamp_(-kBound, kBound);
}

}  // namespace lowtide::zoo
