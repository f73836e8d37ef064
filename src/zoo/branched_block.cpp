// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/branched_block.h"

namespace lowtide::zoo {
namespace {

constexpr double kNormEpsilon = 0.001;

at::Tensor pooled(const at::Tensor& x, Pool pool) {
  switch (pool) {
    case Pool::kNone:
      return x;
    case Pool::kAverage:
      return at::avg_pool2d(x, 3, 1, 1);
    case Pool::kAverageInside:
      return at::avg_pool2d(x, 3, 1, 1, /*ceil_mode=*/false, /*count_include_pad=*/false);
    case Pool::kMax:
      return at::max_pool2d(x, 3, 1, 1);
    case Pool::kMaxHalving:
      return at::max_pool2d(x, 3, 2);
  }
  return x;
}

}  // namespace

ConvNorm::ConvNorm(std::int64_t inputs, const ConvPlan& plan) {
  const auto [height, width] = plan.kernel;
  auto options = torch::nn::Conv2dOptions(inputs, plan.outputs, {height, width});
  options.stride(plan.stride).bias(false);
  if (plan.padding == Padding::kSame) options.padding({height / 2, width / 2});
  conv_ = register_module("conv", torch::nn::Conv2d(options));
  bn_ = register_module(
      "bn", torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(plan.outputs).eps(kNormEpsilon)));
}

at::Tensor ConvNorm::forward(const at::Tensor& x) {
  return bn_->forward(conv_->forward(x)).relu_();
}

BranchedBlock::BranchedBlock(std::int64_t inputs, const std::vector<BranchPlan>& plan) {
  for (const BranchPlan& branch : plan) add(inputs, branch);
}

void BranchedBlock::add(std::int64_t inputs, const BranchPlan& plan) {
  Branch branch = {.pool = plan.pool, .chain = {}, .fork = {}};
  for (const ConvPlan& layer : plan.chain) {
    branch.chain.push_back(add_layer(inputs, layer));
    inputs = layer.outputs;
  }
  for (const ConvPlan& layer : plan.fork) {
    branch.fork.push_back(add_layer(inputs, layer));
    outputs_ += layer.outputs;
  }
  if (plan.fork.empty()) outputs_ += inputs;
  branches_.push_back(std::move(branch));
}

std::shared_ptr<ConvNorm> BranchedBlock::add_layer(std::int64_t inputs, const ConvPlan& plan) {
  auto layer = std::make_shared<ConvNorm>(inputs, plan);
  const std::size_t dot = plan.name.find('.');
  if (dot == std::string::npos) return register_module(plan.name, layer);
  const std::string folder = plan.name.substr(0, dot);
  const auto known = named_children();
  const auto parent = known.contains(folder)
                          ? known[folder]
                          : register_module(folder, std::make_shared<torch::nn::Module>());
  return parent->register_module(plan.name.substr(dot + 1), layer);
}

at::Tensor BranchedBlock::forward(const at::Tensor& x) {
  std::vector<at::Tensor> parts;
  for (const Branch& branch : branches_) {
    at::Tensor y = pooled(x, branch.pool);
    for (const auto& layer : branch.chain) y = layer->forward(y);
    for (const auto& layer : branch.fork) parts.push_back(layer->forward(y));
    if (branch.fork.empty()) parts.push_back(y);
  }
  return at::cat(parts, 1);
}

}  // namespace lowtide::zoo
