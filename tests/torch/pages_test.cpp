// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The first two promises once more, on a GPU, with blocks that are large enough to lie in pages and
// a budget that also caps what is taken from the device: by the online rule, and by plans, under
// which blocks are moved, stitched and laid out.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/optimizer.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

// So many that steps come to rest.
constexpr int kSteps = 12;

std::string why_skip_here() {
  if (test_device().is_cpu()) return "only a GPU has pages";
  return why_skip();
}

std::unique_ptr<Training> dense(at::Device device, std::uint64_t seed) {
  auto model = make_model<LinearStack>(device, seed, LinearStackShape{1000, 1024, 700, 10});
  const at::Tensor x = Data(device, seed).normal({2000, 1000});
  const at::Tensor y = Data(device, seed + 1).normal({2000, 700});
  return train(model, make_fused_adamw(model->parameters()),
               [=](int) { return at::mse_loss(model->forward(x), y); });
}

// Sizes that are no multiples of anything.
std::unique_ptr<Training> convolutions(at::Device device, std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Sequential model;
  std::int64_t inputs = 3;
  for (const std::int64_t outputs : {24, 40, 40, 56, 56, 72, 72, 72}) {
    model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1)));
    model->push_back(torch::nn::BatchNorm2d(outputs));
    model->push_back(torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true)));
    model->push_back(torch::nn::Dropout(0.1));
    inputs = outputs;
  }
  model->to(device);
  const at::Tensor pictures = Data(device, seed).normal({24, 3, 61, 61});
  const at::Tensor wanted = Data(device, seed + 1).normal({24, inputs, 61, 61});
  return train(model.ptr(), make_sgd(*model),
               [=](int) mutable { return at::mse_loss(model->forward(pictures), wanted); });
}

class Transformer : public torch::nn::Module {
 public:
  Transformer() {
    for (int i = 0; i < kDepth; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i),
                          std::make_shared<TransformerBlock>(TransformerShape{
                              .width = kWidth, .heads = 8, .depth = kDepth, .dropout = 0.1})));
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (const auto& block : blocks_) x = block->forward(x);
    return x;
  }

  static constexpr std::int64_t kWidth = 384;

 private:
  static constexpr int kDepth = 5;
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
};

// Of a length that changes, so that there are two kinds of steps.
std::unique_ptr<Training> attention(at::Device device, std::uint64_t seed) {
  auto model = make_model<Transformer>(device, seed);
  const at::Tensor x = Data(device, seed).normal({8, 330, Transformer::kWidth});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor part = x.narrow(1, 0, i % 4 == 3 ? 250 : 330);
    return at::mse_loss(model->forward(part), part);
  });
}

const std::vector<Program>& large_programs() {
  static const std::vector<Program> programs = {
      {"dense", dense}, {"convolutions", convolutions}, {"attention", attention}};
  return programs;
}

using Case = std::tuple<Program, int, Means>;

class InPages : public testing::TestWithParam<Case> {
 protected:
  static SessionOptions options() {
    SessionOptions options = options_for(0, std::get<Means>(GetParam()));
    options.cap_reserved = true;
    return options;
  }
  static void expect_identical_with(const SessionOptions& options) {
    const auto& [program, share_percent, means] = GetParam();
    const Reference& wanted = reference(program, kSteps);
    const std::int64_t budget = wanted.budget(share_percent);
    const auto done = run_feasibly(program, options, budget, wanted);
    ASSERT_TRUE(done.has_value()) << "no budget that a refusal named was enough";
    const SessionStats& stats = done->run.stats;
    EXPECT_EQ(done->run.difference, std::nullopt);
    EXPECT_LE(stats.peak_bytes, stats.budget_bytes);
    EXPECT_LE(stats.reserved_peak_bytes, stats.budget_bytes);
    // By recomputation alone, what the optimizer keeps cannot be evicted.
    if (stats.budget_bytes < wanted.plain_peak_bytes) {
      EXPECT_GT(stats.evictions, 0);
    }
    std::printf("%d %% asked, %.0f %% given: %lld evictions, %lld relocations, %lld stitches\n",
                share_percent,
                100.0 * static_cast<double>(stats.budget_bytes - wanted.fixed_bytes) /
                    static_cast<double>(wanted.plain_peak_bytes - wanted.fixed_bytes),
                static_cast<long long>(stats.evictions), static_cast<long long>(stats.relocations),
                static_cast<long long>(stats.stitches));
  }
};

TEST_P(InPages, TheOnlineRuleGivesTheBitsOfThePlainRun) {
  LT_SKIP_IF(why_skip_here());
  expect_identical_with(options());
}

TEST_P(InPages, PlansGiveTheBitsOfThePlainRun) {
  LT_SKIP_IF(why_skip_here());
  SessionOptions planned = options();
  planned.policy = "auto";
  planned.wait_for_plans = true;
  expect_identical_with(planned);
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const auto& [program, share_percent, means] = info.param;
  return program.name + "_" + std::to_string(share_percent) + "_percent_" + name_of(means);
}

INSTANTIATE_TEST_SUITE_P(
    LargePrograms, InPages,
    testing::Combine(testing::ValuesIn(large_programs()), testing::Values(80, 60, 45),
                     testing::Values(Means::kRecompute, Means::kHost, Means::kMixed)),
    name_of_case);

}  // namespace
}  // namespace lowtide::torch_test
