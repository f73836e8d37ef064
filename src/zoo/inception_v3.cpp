// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/inception_v3.h"

#include <torch/nn/modules/linear.h>

#include "zoo/branched_block.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kSmallestSize = 75, kSmallestSizeWithHead = 299;
constexpr double kAuxiliaryShare = 0.4;
constexpr double kDropout = 0.5;
constexpr double kDeviation = 0.1, kAuxiliaryDeviation = 0.001;

using Plan = std::vector<BranchPlan>;

// 35 by 35: figure 5.
Plan plan_a(std::int64_t pool_outputs) {
  return {{.chain = {{"branch1x1", 64}}},
          {.chain = {{"branch5x5_1", 48}, {"branch5x5_2", 64, {5, 5}}}},
          {.chain = {{"branch3x3dbl_1", 64},
                     {"branch3x3dbl_2", 96, {3, 3}},
                     {"branch3x3dbl_3", 96, {3, 3}}}},
          {.pool = Pool::kAverage, .chain = {{"branch_pool", pool_outputs}}}};
}

// To 17 by 17: figure 10.
Plan plan_b() {
  return {{.chain = {{"branch3x3", 384, {3, 3}, 2, Padding::kNone}}},
          {.chain = {{"branch3x3dbl_1", 64},
                     {"branch3x3dbl_2", 96, {3, 3}},
                     {"branch3x3dbl_3", 96, {3, 3}, 2, Padding::kNone}}},
          {.pool = Pool::kMaxHalving, .chain = {}}};
}

// 17 by 17: figure 6.
Plan plan_c(std::int64_t inner) {
  return {{.chain = {{"branch1x1", 192}}},
          {.chain = {{"branch7x7_1", inner},
                     {"branch7x7_2", inner, {1, 7}},
                     {"branch7x7_3", 192, {7, 1}}}},
          {.chain = {{"branch7x7dbl_1", inner},
                     {"branch7x7dbl_2", inner, {7, 1}},
                     {"branch7x7dbl_3", inner, {1, 7}},
                     {"branch7x7dbl_4", inner, {7, 1}},
                     {"branch7x7dbl_5", 192, {1, 7}}}},
          {.pool = Pool::kAverage, .chain = {{"branch_pool", 192}}}};
}

// To 8 by 8.
Plan plan_d() {
  return {{.chain = {{"branch3x3_1", 192}, {"branch3x3_2", 320, {3, 3}, 2, Padding::kNone}}},
          {.chain = {{"branch7x7x3_1", 192},
                     {"branch7x7x3_2", 192, {1, 7}},
                     {"branch7x7x3_3", 192, {7, 1}},
                     {"branch7x7x3_4", 192, {3, 3}, 2, Padding::kNone}}},
          {.pool = Pool::kMaxHalving, .chain = {}}};
}

// 8 by 8: figure 7.
Plan plan_e() {
  return {{.chain = {{"branch1x1", 320}}},
          {.chain = {{"branch3x3_1", 384}},
           .fork = {{"branch3x3_2a", 384, {1, 3}}, {"branch3x3_2b", 384, {3, 1}}}},
          {.chain = {{"branch3x3dbl_1", 448}, {"branch3x3dbl_2", 384, {3, 3}}},
           .fork = {{"branch3x3dbl_3a", 384, {1, 3}}, {"branch3x3dbl_3b", 384, {3, 1}}}},
          {.pool = Pool::kAverage, .chain = {{"branch_pool", 192}}}};
}

class AuxiliaryHead : public torch::nn::Module {
 public:
  AuxiliaryHead(std::int64_t inputs, std::int64_t classes) {
    conv0_ = register_module("conv0", std::make_shared<ConvNorm>(inputs, ConvPlan{"", 128}));
    const ConvPlan last = {"", 768, {5, 5}, 1, Padding::kNone};
    conv1_ = register_module("conv1", std::make_shared<ConvNorm>(128, last));
    fc_ = register_module("fc", torch::nn::Linear(last.outputs, classes));
  }

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = conv1_->forward(conv0_->forward(at::avg_pool2d(x, 5, 3)));
    return fc_->forward(at::adaptive_avg_pool2d(y, {1, 1}).flatten(1));
  }

  void set_first_values() { set_cut_off(fc_->weight, kAuxiliaryDeviation); }

 private:
  std::shared_ptr<ConvNorm> conv0_, conv1_;
  torch::nn::Linear fc_{nullptr};
};

class InceptionV3 : public torch::nn::Module {
 public:
  InceptionV3(const InputShape& input, bool has_auxiliary, double dropout) : dropout_(dropout) {
    add_stem(input.channels);
    add_block("Mixed_5b", plan_a(32));
    add_block("Mixed_5c", plan_a(64));
    add_block("Mixed_5d", plan_a(64));
    add_block("Mixed_6a", plan_b());
    add_block("Mixed_6b", plan_c(128));
    add_block("Mixed_6c", plan_c(160));
    add_block("Mixed_6d", plan_c(160));
    add_block("Mixed_6e", plan_c(192));
    if (has_auxiliary) {
      auxiliary_ =
          register_module("AuxLogits", std::make_shared<AuxiliaryHead>(channels_, input.classes));
    }
    add_block("Mixed_7a", plan_d());
    add_block("Mixed_7b", plan_e());
    add_block("Mixed_7c", plan_e());
    fc_ = register_module("fc", torch::nn::Linear(channels_, input.classes));
    set_all_cut_off(*this, kDeviation);
    if (auxiliary_) auxiliary_->set_first_values();
  }

  HeadScores forward(const at::Tensor& pictures) {
    constexpr std::size_t kBlockWithHead = 7;
    HeadScores scores;
    at::Tensor x = pictures;
    for (std::size_t i = 0; i < stem_.size(); ++i) {
      x = stem_[i]->forward(x);
      if (i == 2 || i == 4) x = at::max_pool2d(x, 3, 2);
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      x = blocks_[i]->forward(x);
      if (i == kBlockWithHead && auxiliary_ && is_training()) {
        scores.auxiliary.push_back(auxiliary_->forward(x));
      }
    }
    x = at::dropout(at::adaptive_avg_pool2d(x, {1, 1}), dropout_, is_training());
    scores.head = fc_->forward(x.flatten(1));
    return scores;
  }

 private:
  void add_stem(std::int64_t channels) {
    channels_ = channels;
    add_layer({"Conv2d_1a_3x3", 32, {3, 3}, 2, Padding::kNone});
    add_layer({"Conv2d_2a_3x3", 32, {3, 3}, 1, Padding::kNone});
    add_layer({"Conv2d_2b_3x3", 64, {3, 3}});
    add_layer({"Conv2d_3b_1x1", 80});
    add_layer({"Conv2d_4a_3x3", 192, {3, 3}, 1, Padding::kNone});
  }
  void add_layer(const ConvPlan& plan) {
    stem_.push_back(register_module(plan.name, std::make_shared<ConvNorm>(channels_, plan)));
    channels_ = plan.outputs;
  }
  void add_block(const std::string& name, const Plan& plan) {
    blocks_.push_back(register_module(name, std::make_shared<BranchedBlock>(channels_, plan)));
    channels_ = blocks_.back()->outputs();
  }

  double dropout_;
  std::int64_t channels_ = 0;
  std::vector<std::shared_ptr<ConvNorm>> stem_;
  std::vector<std::shared_ptr<BranchedBlock>> blocks_;
  std::shared_ptr<AuxiliaryHead> auxiliary_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace

Model make_inception_v3(const ModelOptions& options) {
  const bool has_auxiliary = options.auxiliary.value_or(true);
  const InputShape input =
      input_of(options, {.size = 299}, has_auxiliary ? kSmallestSizeWithHead : kSmallestSize);
  const auto net =
      std::make_shared<InceptionV3>(input, has_auxiliary, options.dropout.value_or(kDropout));
  return model_of_heads(net, input, kAuxiliaryShare);
}

}  // namespace lowtide::zoo
