// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/googlenet.h"

#include <array>

#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "zoo/branched_block.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kSmallestSize = 15;
constexpr double kAuxiliaryShare = 0.3;
constexpr double kDropout = 0.2, kAuxiliaryDropout = 0.7;
constexpr double kDeviation = 0.01;

// A row of table 1: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj.
using Row = std::array<std::int64_t, 6>;

std::vector<BranchPlan> plan_of(const Row& row) {
  return {{.chain = {{"branch1", row[0]}}},
          {.chain = {{"branch2.0", row[1]}, {"branch2.1", row[2], {3, 3}}}},
          {.chain = {{"branch3.0", row[3]}, {"branch3.1", row[4], {3, 3}}}},
          {.pool = Pool::kMax, .chain = {{"branch4.1", row[5]}}}};
}

at::Tensor halved(const at::Tensor& x, std::int64_t kernel) {
  return at::max_pool2d(x, kernel, 2, 0, 1, /*ceil_mode=*/true);
}

class AuxiliaryHead : public torch::nn::Module {
 public:
  AuxiliaryHead(std::int64_t inputs, std::int64_t classes, double dropout) : dropout_(dropout) {
    conv_ = register_module("conv", std::make_shared<ConvNorm>(inputs, ConvPlan{"", 128}));
    fc1_ = register_module("fc1", torch::nn::Linear(128 * 4 * 4, 1024));
    fc2_ = register_module("fc2", torch::nn::Linear(1024, classes));
  }

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = conv_->forward(at::adaptive_avg_pool2d(x, {4, 4})).flatten(1);
    return fc2_->forward(at::dropout(fc1_->forward(y).relu_(), dropout_, is_training()));
  }

 private:
  double dropout_;
  std::shared_ptr<ConvNorm> conv_;
  torch::nn::Linear fc1_{nullptr}, fc2_{nullptr};
};

class GoogLeNet : public torch::nn::Module {
 public:
  GoogLeNet(const InputShape& input, const ModelOptions& options)
      : dropout_(options.dropout.value_or(kDropout)) {
    conv1_ = add_layer(input.channels, {"conv1", 64, {7, 7}, 2});
    conv2_ = add_layer(64, {"conv2", 64});
    conv3_ = add_layer(64, {"conv3", 192, {3, 3}});
    add_blocks(3, {{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64}});
    add_blocks(4, {{192, 96, 208, 16, 48, 64},
                   {160, 112, 224, 24, 64, 64},
                   {128, 128, 256, 24, 64, 64},
                   {112, 144, 288, 32, 64, 64},
                   {256, 160, 320, 32, 128, 128}});
    add_blocks(5, {{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}});
    if (options.auxiliary.value_or(true)) {
      const double dropout = options.dropout.value_or(kAuxiliaryDropout);
      for (const std::size_t block : kBlocksWithHead) {
        const std::string name = "aux" + std::to_string(auxiliary_.size() + 1);
        auxiliary_.push_back(register_module(
            name,
            std::make_shared<AuxiliaryHead>(blocks_[block]->outputs(), input.classes, dropout)));
      }
    }
    fc_ = register_module("fc", torch::nn::Linear(channels_, input.classes));
    set_all_cut_off(*this, kDeviation);
  }

  HeadScores forward(const at::Tensor& pictures) {
    HeadScores scores;
    at::Tensor x = halved(conv1_->forward(pictures), 3);
    x = halved(conv3_->forward(conv2_->forward(x)), 3);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i == kFirstOfFour) x = halved(x, 3);
      if (i == kFirstOfFive) x = halved(x, 2);
      x = blocks_[i]->forward(x);
      for (std::size_t head = 0; head < auxiliary_.size() && is_training(); ++head) {
        if (i == kBlocksWithHead[head]) scores.auxiliary.push_back(auxiliary_[head]->forward(x));
      }
    }
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    scores.head = fc_->forward(at::dropout(x, dropout_, is_training()));
    return scores;
  }

 private:
  static constexpr std::size_t kFirstOfFour = 2, kFirstOfFive = 7;
  // inception4a and inception4d.
  static constexpr std::array<std::size_t, 2> kBlocksWithHead = {2, 5};

  std::shared_ptr<ConvNorm> add_layer(std::int64_t inputs, const ConvPlan& plan) {
    return register_module(plan.name, std::make_shared<ConvNorm>(inputs, plan));
  }
  void add_blocks(int stage, const std::vector<Row>& rows) {
    char letter = 'a';
    for (const Row& row : rows) {
      const std::string name = "inception" + std::to_string(stage) + letter++;
      blocks_.push_back(
          register_module(name, std::make_shared<BranchedBlock>(channels_, plan_of(row))));
      channels_ = blocks_.back()->outputs();
    }
  }

  double dropout_;
  std::int64_t channels_ = 192;
  std::shared_ptr<ConvNorm> conv1_, conv2_, conv3_;
  std::vector<std::shared_ptr<BranchedBlock>> blocks_;
  std::vector<std::shared_ptr<AuxiliaryHead>> auxiliary_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace

Model make_googlenet(const ModelOptions& options) {
  const InputShape input = input_of(options, {}, kSmallestSize);
  return model_of_heads(std::make_shared<GoogLeNet>(input, options), input, kAuxiliaryShare);
}

}  // namespace lowtide::zoo
