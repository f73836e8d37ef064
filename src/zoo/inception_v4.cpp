// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/inception_v4.h"

#include <torch/nn/modules/linear.h>

#include "zoo/branched_block.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kSmallestSize = 75;
// The paper keeps 0.8.
constexpr double kDropout = 0.2;

using Plan = std::vector<BranchPlan>;

// Figure 3, after its first three convolutions.
std::vector<Plan> stem_plans() {
  return {{{.pool = Pool::kMaxHalving, .chain = {}},
           {.chain = {{"conv", 96, {3, 3}, 2, Padding::kNone}}}},
          {{.chain = {{"short_1", 64}, {"short_2", 96, {3, 3}, 1, Padding::kNone}}},
           {.chain = {{"long_1", 64},
                      {"long_2", 64, {1, 7}},
                      {"long_3", 64, {7, 1}},
                      {"long_4", 96, {3, 3}, 1, Padding::kNone}}}},
          {{.chain = {{"conv", 192, {3, 3}, 2, Padding::kNone}}},
           {.pool = Pool::kMaxHalving, .chain = {}}}};
}

// 35 by 35: figure 4.
Plan plan_a() {
  return {{.chain = {{"single", 96}}},
          {.chain = {{"short_1", 64}, {"short_2", 96, {3, 3}}}},
          {.chain = {{"long_1", 64}, {"long_2", 96, {3, 3}}, {"long_3", 96, {3, 3}}}},
          {.pool = Pool::kAverageInside, .chain = {{"pool", 96}}}};
}

// To 17 by 17: figure 7.
Plan reduction_a() {
  return {{.chain = {{"short", 384, {3, 3}, 2, Padding::kNone}}},
          {.chain = {{"long_1", 192},
                     {"long_2", 224, {3, 3}},
                     {"long_3", 256, {3, 3}, 2, Padding::kNone}}},
          {.pool = Pool::kMaxHalving, .chain = {}}};
}

// 17 by 17: figure 5.
Plan plan_b() {
  return {{.chain = {{"single", 384}}},
          {.chain = {{"short_1", 192}, {"short_2", 224, {1, 7}}, {"short_3", 256, {7, 1}}}},
          {.chain = {{"long_1", 192},
                     {"long_2", 192, {7, 1}},
                     {"long_3", 224, {1, 7}},
                     {"long_4", 224, {7, 1}},
                     {"long_5", 256, {1, 7}}}},
          {.pool = Pool::kAverageInside, .chain = {{"pool", 128}}}};
}

// To 8 by 8: figure 8.
Plan reduction_b() {
  return {{.chain = {{"short_1", 192}, {"short_2", 192, {3, 3}, 2, Padding::kNone}}},
          {.chain = {{"long_1", 256},
                     {"long_2", 256, {1, 7}},
                     {"long_3", 320, {7, 1}},
                     {"long_4", 320, {3, 3}, 2, Padding::kNone}}},
          {.pool = Pool::kMaxHalving, .chain = {}}};
}

// 8 by 8: figure 6.
Plan plan_c() {
  return {
      {.chain = {{"single", 256}}},
      {.chain = {{"short_1", 384}}, .fork = {{"short_2a", 256, {1, 3}}, {"short_2b", 256, {3, 1}}}},
      {.chain = {{"long_1", 384}, {"long_2", 448, {3, 1}}, {"long_3", 512, {1, 3}}},
       .fork = {{"long_4a", 256, {1, 3}}, {"long_4b", 256, {3, 1}}}},
      {.pool = Pool::kAverageInside, .chain = {{"pool", 256}}}};
}

class InceptionV4 : public torch::nn::Module {
 public:
  InceptionV4(const InputShape& input, double dropout)
      : channels_(input.channels), dropout_(dropout) {
    add_layer({"conv1", 32, {3, 3}, 2, Padding::kNone});
    add_layer({"conv2", 32, {3, 3}, 1, Padding::kNone});
    add_layer({"conv3", 64, {3, 3}});
    for (const Plan& plan : stem_plans()) add_blocks("stem", 1, plan);
    add_blocks("a", 4, plan_a());
    add_blocks("reduction", 1, reduction_a());
    add_blocks("b", 7, plan_b());
    add_blocks("reduction", 1, reduction_b());
    add_blocks("c", 3, plan_c());
    register_module("blocks", folder_);
    fc_ = register_module("fc", torch::nn::Linear(channels_, input.classes));
    set_convolutions_by_outputs(*this);
  }

  at::Tensor forward(const at::Tensor& pictures) {
    at::Tensor x = pictures;
    for (const auto& layer : first_) x = layer->forward(x);
    for (const auto& block : blocks_) x = block->forward(x);
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return fc_->forward(at::dropout(x, dropout_, is_training()));
  }

 private:
  void add_layer(const ConvPlan& plan) {
    first_.push_back(register_module(plan.name, std::make_shared<ConvNorm>(channels_, plan)));
    channels_ = plan.outputs;
  }
  void add_blocks(const std::string& kind, int count, const Plan& plan) {
    for (int i = 0; i < count; ++i) {
      const std::string name = kind + std::to_string(blocks_.size());
      blocks_.push_back(
          folder_->register_module(name, std::make_shared<BranchedBlock>(channels_, plan)));
      channels_ = blocks_.back()->outputs();
    }
  }

  std::int64_t channels_;
  double dropout_;
  std::shared_ptr<torch::nn::Module> folder_ = std::make_shared<torch::nn::Module>();
  std::vector<std::shared_ptr<ConvNorm>> first_;
  std::vector<std::shared_ptr<BranchedBlock>> blocks_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace

Model make_inception_v4(const ModelOptions& options) {
  const InputShape input = input_of(options, {.size = 299}, kSmallestSize);
  return model_of(std::make_shared<InceptionV4>(input, options.dropout.value_or(kDropout)), input);
}

}  // namespace lowtide::zoo
