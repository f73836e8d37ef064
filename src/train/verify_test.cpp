// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/verify.h"

#include <atomic>
#include <string>

#include <ATen/ops/gelu_cpu_dispatch.h>
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

// Off: the kernel of GPT's gelu finds no memory.
std::atomic<bool> has_room = true;

at::Tensor gelu_that_needs_room(const at::Tensor& input, c10::string_view approximate) {
  if (!has_room) throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "no room\nand where");
  return at::cpu::gelu(input, approximate);
}

TORCH_LIBRARY_IMPL(aten, CPU, library) { library.impl("gelu", gelu_that_needs_room); }

// A language model so small that it draws from the generator in every step and takes no time.
RunOptions tiny_options() {
  RunOptions options;
  options.training.model = "gpt";
  zoo::ModelOptions& model = options.training.model_options;
  model.layers = 1;
  model.width = 32;
  model.heads = 2;
  model.context = 64;
  model.dropout = 0.1;
  options.training.batch = 32;
  options.training.optimizer = "adamw";
  options.training.schedule.rate = 1e-3;
  options.memory.budget = "80%";
  options.steps = 3;
  return options;
}

TEST(Verify, FindsNothingWhereThereIsNothing) {
  const Verdict verdict = verify(tiny_options(), {});
  EXPECT_FALSE(verdict.difference.has_value());
  EXPECT_EQ(verdict.compared_steps, 3);
  EXPECT_FALSE(verdict.report.was_interrupted);
  EXPECT_GT(verdict.report.stats.evictions, 0);
  EXPECT_LE(verdict.report.stats.peak_bytes, verdict.report.budget_bytes);
}

TEST(Verify, NamesStepTensorElementAndBothValues) {
  Hooks hooks;
  bool is_managed = false;
  hooks.say = [&](const std::string& message) {
    is_managed = message.starts_with("training inside");
  };
  // A number drawn after the managed training's first step: its second has other dropout masks.
  hooks.on_step = [&](const Progress& progress) {
    if (is_managed && progress.step == 1) torch::rand({1});
  };
  const Verdict verdict = verify(tiny_options(), hooks);
  ASSERT_TRUE(verdict.difference.has_value());
  EXPECT_EQ(verdict.difference->step, 2);
  EXPECT_EQ(verdict.difference->tensor, "loss");
  ASSERT_TRUE(verdict.difference->element.has_value());
  EXPECT_EQ(verdict.difference->element->element, 0);
  EXPECT_NE(verdict.difference->element->wanted, verdict.difference->element->got);
  EXPECT_EQ(verdict.compared_steps, 2);
}

TEST(Verify, RefusesPlainTrainingThatDoesNotRepeatItself) {
  Hooks hooks;
  bool is_plain = false;
  hooks.say = [&](const std::string& message) { is_plain = message == "training plainly"; };
  hooks.on_step = [&](const Progress& progress) {
    if (is_plain && progress.step == 1) torch::rand({1});
  };
  EXPECT_THROW(verify(tiny_options(), hooks), InvalidInput);
}

TEST(Verify, StopsWhenAsked) {
  Hooks hooks;
  int steps = 0;
  hooks.on_step = [&](const Progress&) { ++steps; };
  hooks.is_stopped = [&] { return steps >= 4; };
  const Verdict verdict = verify(tiny_options(), hooks);
  EXPECT_TRUE(verdict.report.was_interrupted);
  EXPECT_EQ(verdict.compared_steps, 1);
}

TEST(Verify, StopsWhileItMeasures) {
  Hooks hooks;
  bool is_measuring = false;
  hooks.say = [&](const std::string& message) { is_measuring = message.starts_with("measuring"); };
  hooks.is_stopped = [&] { return is_measuring; };
  const Verdict verdict = verify(tiny_options(), hooks);
  EXPECT_TRUE(verdict.report.was_interrupted);
  EXPECT_EQ(verdict.compared_steps, 0);
  EXPECT_EQ(verdict.report.plain_peak_bytes, std::nullopt);
}

TEST(Verify, StopsWhileItTrainsPlainly) {
  Hooks hooks;
  int steps = 0;
  hooks.on_step = [&](const Progress&) { ++steps; };
  hooks.is_stopped = [&] { return steps >= 2; };
  const Verdict verdict = verify(tiny_options(), hooks);
  EXPECT_TRUE(verdict.report.was_interrupted);
  EXPECT_EQ(verdict.compared_steps, 0);
  EXPECT_EQ(steps, 2);
}

TEST(Verify, KeepsTheDifferenceIfTheElementCannotBeFound) {
  Hooks hooks;
  bool is_managed = false;
  std::string last;
  hooks.say = [&](const std::string& message) {
    is_managed = message.starts_with("training inside");
    has_room = !message.starts_with("different;");
    last = message;
  };
  hooks.on_step = [&](const Progress& progress) {
    if (is_managed && progress.step == 1) torch::rand({1});
  };
  const Verdict verdict = verify(tiny_options(), hooks);
  has_room = true;
  ASSERT_TRUE(verdict.difference.has_value());
  EXPECT_EQ(verdict.difference->tensor, "loss");
  EXPECT_FALSE(verdict.difference->element.has_value());
  EXPECT_TRUE(last.starts_with("the element cannot be told: ")) << last;
}

TEST(Verify, NeedsABudget) {
  RunOptions options = tiny_options();
  options.memory.budget.clear();
  EXPECT_THROW(verify(options, {}), InvalidInput);
}

}  // namespace
}  // namespace lowtide::train
