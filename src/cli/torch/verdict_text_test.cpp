// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cli/torch/report_json.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kSteps = 3;

// Verifies a small language model, which draws from the generator in every step. `on_managed_step`
// is called after each step inside the budget, `is_stopped` after any.
struct Disturbance {
  std::function<void(std::int64_t step)> on_managed_step = [](std::int64_t) {};
  std::function<bool(bool is_managed, std::int64_t step)> is_stopped = [](bool, std::int64_t) {
    return false;
  };
};

train::Verdict verdict_of(const Disturbance& disturbance) {
  train::RunOptions options;
  options.training.model = "gpt";
  options.training.model_options = {
      .layers = 1, .width = 32, .heads = 2, .context = 64, .dropout = 0.1};
  options.training.batch = 32;
  options.training.optimizer = "adamw";
  options.training.schedule.rate = 1e-3;
  options.memory.budget = "80%";
  options.steps = kSteps;
  bool is_managed = false;
  std::int64_t step = 0;
  train::Hooks hooks;
  hooks.say = [&](const std::string& message) {
    if (message.starts_with("training inside")) is_managed = true;
    step = 0;
  };
  hooks.on_step = [&](const train::Progress& progress) {
    step = progress.step;
    if (is_managed) disturbance.on_managed_step(step);
  };
  hooks.is_stopped = [&] { return disturbance.is_stopped(is_managed, step); };
  return train::verify(options, hooks);
}

TEST(Verdict, OfTrainingsThatAreIdentical) {
  const train::Verdict verdict = verdict_of({});
  EXPECT_THAT(verdict_text(verdict), StartsWith("identical over 3 steps\n"));
  EXPECT_THAT(verdict_text(verdict), HasSubstr(" a step; plain "));
  EXPECT_EQ(exit_code_of(verdict), ExitCode::kDone);
  const nlohmann::json json = verdict_json(verdict);
  EXPECT_EQ(json["identical"], true);
  EXPECT_EQ(json["steps"], kSteps);
  EXPECT_FALSE(json.contains("first_difference"));
  EXPECT_TRUE(json.contains("stall_seconds"));
}

// A number drawn after the first managed step: the second has other dropout masks.
TEST(Verdict, OfTrainingsThatDiffer) {
  Disturbance disturbance;
  disturbance.on_managed_step = [](std::int64_t step) {
    if (step == 1) torch::rand({1});
  };
  const train::Verdict verdict = verdict_of(disturbance);
  ASSERT_TRUE(verdict.difference && verdict.difference->element);
  const train::ElementDifference& element = *verdict.difference->element;
  EXPECT_THAT(verdict_text(verdict),
              StartsWith("different after step 2: loss, element 0: plain " + element.wanted +
                         ", managed " + element.got + "\n"));
  EXPECT_EQ(exit_code_of(verdict), ExitCode::kFailed);
  const nlohmann::json json = verdict_json(verdict);
  EXPECT_EQ(json["identical"], false);
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["first_difference"], nlohmann::json({{"step", 2},
                                                      {"tensor", "loss"},
                                                      {"element", 0},
                                                      {"plain", element.wanted},
                                                      {"managed", element.got}}));
}

TEST(Verdict, OfADifferenceWithoutAnElementNamesTheTensor) {
  train::Verdict verdict;
  verdict.difference = train::Difference{4, "gradient/fc.weight", std::nullopt};
  EXPECT_EQ(verdict_text(verdict), "different after step 4: gradient/fc.weight\n");
  EXPECT_EQ(verdict_json(verdict)["first_difference"],
            nlohmann::json({{"step", 4}, {"tensor", "gradient/fc.weight"}}));
  EXPECT_EQ(exit_code_of(verdict), ExitCode::kFailed);
}

TEST(Verdict, OfAnInterruptedOneSaysHowFarItCame) {
  Disturbance disturbance;
  disturbance.is_stopped = [](bool is_managed, std::int64_t step) {
    return is_managed && step == 1;
  };
  const train::Verdict verdict = verdict_of(disturbance);
  EXPECT_THAT(verdict_text(verdict), StartsWith("interrupted after 1 step, identical so far\n"));
  EXPECT_EQ(exit_code_of(verdict), ExitCode::kInterrupted);
  const nlohmann::json json = verdict_json(verdict);
  EXPECT_TRUE(json["identical"].is_null());
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["steps"], 1);
}

TEST(Verdict, OfOneInterruptedBeforeAnythingWasCompared) {
  Disturbance disturbance;
  disturbance.is_stopped = [](bool is_managed, std::int64_t step) {
    return !is_managed && step == 1;
  };
  const train::Verdict verdict = verdict_of(disturbance);
  EXPECT_EQ(verdict_text(verdict), "interrupted before a step was compared\n");
  EXPECT_TRUE(verdict_json(verdict)["identical"].is_null());
  EXPECT_EQ(exit_code_of(verdict), ExitCode::kInterrupted);
}

}  // namespace
}  // namespace lowtide::cli
