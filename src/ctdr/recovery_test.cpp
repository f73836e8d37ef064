// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/recovery.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/decompose.h"

namespace lowtide::ctdr {
namespace {

constexpr std::int64_t kBatch = 400;

// LeNet-5 with a narrow layer, from random numbers, on the pictures that are linked in.
struct Work {
  Work() {
    at::set_num_threads(1);
    training.model = "lenet5";
    training.batch = kBatch;
    training.optimizer = "sgd_plain";
    training.schedule.rate = 0.5;
    data = train::open_data_for(training);
    training.prepare = [](torch::nn::Module& model) {
      decompose_layer(model, "c5", {Decomposition::kSvd, {40}}, UntrainedWeights::kTaken);
    };
    hooks.on_evaluation = [this](const train::DatedEvaluation& dated) {
      evaluated_at.push_back(dated.step);
    };
  }

  std::optional<Recovery> recover(const RecoveryOptions& options) {
    return ctdr::recover(
        training, data, options, [](const train::Training&, Session&) {}, hooks);
  }

  train::TrainingOptions training;
  std::shared_ptr<const zoo::DataSet> data;
  std::vector<std::int64_t> evaluated_at;
  train::Hooks hooks;
};

TEST(Recovery, StopsPartwayOnceTheAccuracyIsBack) {
  Work work;
  const std::optional<Recovery> found =
      work.recover({.wanted_accuracy = 0.3, .epochs = 50, .rate_share = 1, .evaluate_every = 4});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_back);
  EXPECT_LT(found->after_decomposition.accuracy, 0.3);
  EXPECT_GE(found->after_fine_tuning.accuracy, 0.3);
  EXPECT_GT(found->steps, 0);
  EXPECT_LT(found->steps, 200);
  EXPECT_EQ(found->steps % 4, 0);
  // The last one was the first that was good enough.
  EXPECT_EQ(static_cast<std::int64_t>(work.evaluated_at.size()), found->steps / 4);
  EXPECT_EQ(work.evaluated_at.back(), found->steps);
}

TEST(Recovery, NothingIsTrainedIfTheAccuracyWasNeverLost) {
  Work work;
  const std::optional<Recovery> found = work.recover({.wanted_accuracy = 0, .epochs = 5});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_back);
  EXPECT_EQ(found->steps, 0);
  EXPECT_FALSE(found->step_seconds);
}

TEST(Recovery, WhatTheUserStopsIsKeptIfAStepWasTakenAndThatIsAskedFor) {
  struct Case {
    std::int64_t stop_at;
    bool keeps_interrupted;
    bool is_kept;
  };
  for (const Case& c : {Case{6, true, true}, Case{6, false, false}, Case{0, true, false}}) {
    Work work;
    std::int64_t steps = 0;
    bool was_called = false;
    work.hooks.on_step = [&](const train::Progress& progress) { steps = progress.step; };
    work.hooks.is_stopped = [&] { return steps >= c.stop_at; };
    const std::optional<Recovery> found = ctdr::recover(
        work.training, work.data,
        {.wanted_accuracy = 2,
         .epochs = 1,
         .evaluate_every = 4,
         .keeps_interrupted = c.keeps_interrupted},
        [&](const train::Training&, Session&) { was_called = true; }, work.hooks);
    EXPECT_EQ(found.has_value(), c.is_kept);
    EXPECT_EQ(was_called, c.is_kept);
    if (!found) continue;
    EXPECT_TRUE(found->was_interrupted);
    EXPECT_FALSE(found->is_back);
    EXPECT_EQ(found->steps, 6);
    // The last that was whole.
    EXPECT_EQ(found->evaluated_step, 4);
  }
}

TEST(Recovery, EndsWithTheEpochsAndSaysThatTheAccuracyIsNotBack) {
  Work work;
  const std::optional<Recovery> found = work.recover({.wanted_accuracy = 2, .epochs = 1});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_back);
  const std::int64_t steps =
      work.data->size(zoo::Part::kTraining, train::input_of("lenet5")) / kBatch;
  EXPECT_EQ(found->steps, steps);
  // Twice an epoch, and at its end.
  EXPECT_THAT(work.evaluated_at, ::testing::Contains(steps / 2));
  EXPECT_EQ(work.evaluated_at.back(), steps);
}

// Plain descent changes a parameter by the rate times its gradient, so it can be seen.
TEST(Recovery, TheRateBeginsAtItsShareAndFallsAlongHalfACosine) {
  Work work;
  at::Tensor parameter, before;
  const auto decompose = work.training.prepare;
  work.training.prepare = [&](torch::nn::Module& model) {
    decompose(model);
    parameter = model.named_parameters()["c5.weight_in"];
    before = parameter.detach().clone();
  };
  std::vector<double> rates;
  work.hooks.on_step = [&](const train::Progress&) {
    const at::Tensor change = before - parameter.detach(), gradient = parameter.grad();
    rates.push_back((change * gradient).sum().item<double>() /
                    gradient.square().sum().item<double>());
    before = parameter.detach().clone();
  };
  const std::optional<Recovery> found =
      work.recover({.wanted_accuracy = 2, .epochs = 1, .rate_share = 0.1});
  ASSERT_TRUE(found);
  const auto steps = static_cast<double>(found->steps);
  ASSERT_EQ(static_cast<double>(rates.size()), steps);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double share = (1 + std::cos(std::numbers::pi * static_cast<double>(i) / steps)) / 2;
    EXPECT_NEAR(rates[i], 0.1 * 0.5 * share, 1e-3) << i;
  }
}

}  // namespace
}  // namespace lowtide::ctdr
