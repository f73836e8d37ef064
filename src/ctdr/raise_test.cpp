// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/raise.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "ctdr/test_choices.h"
#include "ctdr/weights_file.h"

namespace lowtide::ctdr {
namespace {

TEST(Raise, NoMoreThanHalfOfTheHarmIsLeft) {
  const std::vector<LayerChoice> layers = {
      with_others(choice("a", 2, 4, 0, 1), {choice("a", 4, 5, 0, 0.4)}), choice("b", 2, 2, 0, 0.3),
      choice("c", 2, 2, 0, 0.01)};
  Forms forms = {{"a", svd(2)}, {"b", svd(2)}, {"c", svd(2)}};
  EXPECT_NEAR(harm_of(layers, forms), 1.31, 1e-9);
  // 0.71 would be left with a higher rank of "a" alone.
  forms = with_half_the_harm(layers, forms, {});
  EXPECT_EQ(forms, (Forms{{"b", svd(2)}, {"c", svd(2)}}));
  forms = with_half_the_harm(layers, forms, {});
  EXPECT_EQ(forms, (Forms{{"c", svd(2)}}));
  // It comes to an end, however little harm there is.
  EXPECT_TRUE(with_half_the_harm(layers, forms, {}).empty());
}

TEST(Raise, WhatIsNotNeededBesideALargerOneIsLeftAsItWas) {
  const std::vector<LayerChoice> layers = {choice("cheap", 2, 9.99, 0, 0.05),
                                           choice("large", 2, 5, 0, 1)};
  EXPECT_EQ(with_half_the_harm(layers, {{"cheap", svd(2)}, {"large", svd(2)}}, {}),
            (Forms{{"cheap", svd(2)}}));
}

TEST(Raise, HarmlessFormsAreUndoneByTheirErrors) {
  std::vector<LayerChoice> layers = {choice("a", 2, 5, 0, 0), choice("b", 2, 5, 0, 0)};
  layers[0].option->relative_error = 0.1;
  layers[1].option->relative_error = 0.5;
  EXPECT_EQ(with_half_the_harm(layers, {{"a", svd(2)}, {"b", svd(2)}}, {}), (Forms{{"a", svd(2)}}));
}

// LeNet-5 from random numbers, on the pictures that are linked in.
train::TrainingOptions lenet() {
  at::set_num_threads(1);
  train::TrainingOptions training;
  training.model = "lenet5";
  training.batch = 100;
  return training;
}

std::vector<LayerChoice> with_raised(const Forms& forms) {
  train::TrainingOptions options = lenet();
  const auto data = train::open_data_for(options);
  train::Training training(options, data);
  DenseModel dense(options, training.state());
  const double rises[] = {0.5, 0.1};
  std::vector<LayerChoice> layers;
  for (const auto& [name, form] : forms) {
    layers.push_back(
        {.layer = name, .option = Option{.form = form, .loss_rise = rises[layers.size()]}});
  }
  add_raised(layers, forms, {.plain_peak_bytes = 1, .plain_seconds = 1}, dense, *data,
             {.takes_untrained = true}, {});
  return layers;
}

TEST(Raise, RanksOfTheSensitiveHalfAreRaisedAndMeasured) {
  const LayerForm small = {Decomposition::kSvd, {4}};
  const std::vector<LayerChoice> layers = with_raised({{"c5", small}, {"f6", small}});
  ASSERT_EQ(layers[0].others.size(), 1U);
  const LayerChoice& raised = layers[0].others[0];
  EXPECT_EQ(raised.option->form.ranks, std::vector<std::int64_t>{6});
  EXPECT_GT(raised.option->seconds, 0);
  EXPECT_GT(raised.option->relative_error, 0);
  EXPECT_GT(raised.dense_seconds, 0);
  EXPECT_TRUE(layers[1].others.empty());
  // 84 x 120 has no fewer parameters at a rank of 60.
  EXPECT_TRUE(with_raised({{"f6", {Decomposition::kSvd, {40}}}})[0].others.empty());
}

// What a new model of the training makes of the evaluation data.
double loss_of(const train::TrainingOptions& training,
               const std::shared_ptr<const zoo::DataSet>& data) {
  return train::Training(training, data)
      .evaluate([](const std::function<void()>& body) { body(); })
      ->loss;
}

TEST(Raise, ARaiseComputesAtFirstWhatWasFineTuned) {
  train::TrainingOptions options = lenet();
  options.schedule.rate = 0.05;
  const auto data = train::open_data_for(options);
  train::Training first(options, data);
  DenseModel dense(options, first.state());
  const LayerForm tucker = {Decomposition::kTucker2, {3, 6}}, svd = {Decomposition::kSvd, {12}};
  const Forms forms = {{"c3", tucker}, {"c5", svd}, {"f6", svd}};
  train::Training tuning(dense.with(forms), data);
  tuning.set_steps(60);
  for (int i = 0; i < 60; ++i) tuning.step();
  const TunedModel tuned = {forms, host_copies(tuning.state(), nullptr)};
  const double learned = tuning.evaluate([](const std::function<void()>& body) { body(); })->loss;
  ASSERT_GT(std::abs(learned - loss_of(dense.with(forms), data)), 0.01);
  const Forms raised = {{"c3", {Decomposition::kTucker2, {4, 9}}}, {"c5", svd}};
  const train::TrainingOptions further = dense.with(raised, tuned);
  EXPECT_NEAR(loss_of(further, data), learned, 1e-4);
  // As many parameters as the new forms have, and f6 is dense again.
  train::Training again(further, data);
  std::map<std::string, at::Tensor> values = host_copies(again.state(), nullptr);
  EXPECT_TRUE(values.contains("f6.weight"));
  EXPECT_EQ(values.at("c3.weight_core").sizes(), at::IntArrayRef({9, 4, 5, 5}));
  EXPECT_TRUE(at::equal(values.at("c5.weight_in"), tuned.values.at("c5.weight_in")));
}

}  // namespace
}  // namespace lowtide::ctdr
