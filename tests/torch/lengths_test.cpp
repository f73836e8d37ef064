// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// No two steps alike: what was learnt from one must not be taken for the next.
#include <memory>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

class VaryingLengths : public testing::TestWithParam<Means> {};

TEST_P(VaryingLengths, GiveThePlainBitsOverTwoHundredSteps) {
  LT_SKIP_IF(why_skip());
  expect_identical(program("embedding_lengths_vary"), 200, 50, options_for(0, GetParam()));
}

// Of a handful of batches and lengths each comes again and again.
std::unique_ptr<Training> train_with_few_shapes(at::Device device, std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Sequential net(torch::nn::Linear(64, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 8));
  net->to(device);
  const auto data = std::make_shared<Data>(device, seed);
  return train(net.ptr(), make_sgd(*net), [net, data](int) mutable {
    const std::int64_t batch = data->integer(7, 10);
    const std::int64_t length = 32 * data->integer(5, 7);
    return net->forward(data->normal({batch, length, 64})).square().mean();
  });
}

TEST(VaryingLengths, ThatComeAgainHaveTheirPlans) {
  LT_SKIP_IF(why_skip());
  constexpr int kSteps = 200;
  const Program few = {.name = "few_shapes", .make = train_with_few_shapes};
  const Reference& wanted = reference(few, kSteps);
  SessionOptions options = options_for(wanted.budget(60));
  options.policy = "evict_all";
  options.wait_for_plans = true;
  const auto found = run_feasibly(few, options, wanted.budget(60), wanted);
  ASSERT_TRUE(found);
  const SessionStats& stats = found->run.stats;
  EXPECT_EQ(found->run.difference, std::nullopt);
  EXPECT_LE(stats.peak_bytes, found->budget_bytes);
  EXPECT_GE(stats.plans, 3);
  EXPECT_LE(stats.plans, 6) << "no more than there are shapes";
  // Most do not follow one to the end: those of shapes that need no plan begin like the others, and
  // so do those that show too late which they are.
  EXPECT_GT(stats.guided_steps - stats.guidance_broken_off, 5)
      << stats.guided_steps << " guided, " << stats.guidance_broken_off << " broken off";
}

INSTANTIATE_TEST_SUITE_P(Means, VaryingLengths,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace lowtide::torch_test
