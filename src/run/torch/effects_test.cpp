// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/effects.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/library.h>

namespace lowtide::run {
namespace {

const OpEffects& effects(const std::string& name, const std::string& overload = "") {
  return effects_of(c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str()));
}

torch::jit::Stack batch_norm_arguments(bool training) {
  constexpr std::size_t kArguments = 8;
  constexpr std::size_t kTraining = 5;
  torch::jit::Stack stack(kArguments);
  stack[kTraining] = training;
  return stack;
}

TEST(OpEffects, FollowTheSchemaForAnnotatedWrites) {
  EXPECT_EQ(effects("aten::add_", "Tensor").arguments[0], Effect::kWrites);
  EXPECT_EQ(effects("aten::add_", "Tensor").arguments[1], Effect::kReads);
  EXPECT_EQ(effects("aten::mul", "Tensor").arguments[0], Effect::kReads);
}

TEST(OpEffects, KnowThatBatchNormWritesItsRunningStatisticsInTraining) {
  const OpEffects& batch_norm = effects("aten::native_batch_norm");
  EXPECT_EQ(batch_norm.effect(3, batch_norm_arguments(true), 0), Effect::kHiddenWrite);
  EXPECT_EQ(batch_norm.effect(4, batch_norm_arguments(true), 0), Effect::kHiddenWrite);
  EXPECT_EQ(batch_norm.effect(3, batch_norm_arguments(false), 0), Effect::kReads);
  EXPECT_EQ(batch_norm.effect(0, batch_norm_arguments(true), 0), Effect::kReads);
}

TEST(OpEffects, SeeNoWriteWhereOnlyMetadataChanges) {
  for (const char* name : {"aten::detach_", "aten::squeeze_", "aten::t_", "aten::transpose_"}) {
    EXPECT_TRUE(effects(name).is_metadata) << name;
  }
  EXPECT_FALSE(effects("aten::resize_").is_metadata);
  EXPECT_TRUE(effects("aten::resize_").changes_storages);
}

TEST(OpEffects, TellFactoriesFromTheRest) {
  EXPECT_TRUE(effects("aten::empty", "memory_format").is_blank_factory);
  EXPECT_TRUE(effects("aten::zeros_like").is_factory);
  EXPECT_FALSE(effects("aten::zeros_like").is_blank_factory);
  EXPECT_FALSE(effects("aten::clone").is_factory);
}

TEST(OpEffects, KnowRandomAndOverwritingOps) {
  EXPECT_TRUE(effects("aten::bernoulli_", "float").is_random);
  EXPECT_TRUE(effects("aten::bernoulli_", "float").overwrites);
  EXPECT_TRUE(effects("aten::add", "out").overwrites);
  EXPECT_FALSE(effects("aten::add_", "Tensor").overwrites);
}

TEST(OpEffects, DoNotReplayRecurrentNetsWithAStateOfTheirOwn) {
  EXPECT_FALSE(effects("aten::_cudnn_rnn").is_replayable);
  EXPECT_FALSE(effects("aten::_cudnn_rnn_backward").is_replayable);
  EXPECT_TRUE(effects("aten::convolution").is_replayable);
}

TEST(OpEffects, TakeNoCompositeForAView) {
  for (const char* name : {"aten::view", "aten::t", "aten::as_strided", "aten::detach"}) {
    EXPECT_TRUE(effects(name).is_view) << name;
  }
  // They copy where they have to.
  for (const char* name : {"aten::reshape", "aten::contiguous", "aten::ravel"}) {
    EXPECT_FALSE(effects(name).is_view) << name;
  }
  EXPECT_FALSE(effects("aten::to", "dtype").is_view);
}

TEST(OpEffects, OfAnOperatorThatIsDefinedAnewAreThoseOfTheNewOne) {
  const auto define = [](const char* schema) {
    auto library = std::make_unique<torch::Library>(torch::Library::FRAGMENT, "lowtide_test",
                                                    std::nullopt, __FILE__, __LINE__);
    library->def(schema);
    return library;
  };
  auto library = define("again(Tensor x) -> Tensor");
  EXPECT_EQ(effects("lowtide_test::again").arguments, std::vector{Effect::kReads});
  library.reset();
  library = define("again(Tensor(a!) x, Tensor y) -> ()");
  EXPECT_EQ(effects("lowtide_test::again").arguments,
            (std::vector{Effect::kWrites, Effect::kReads}));
}

TEST(OpEffects, FindMultiTensorOps) {
  EXPECT_TRUE(effects("aten::_foreach_add_", "Scalar").is_multi_tensor);
  EXPECT_TRUE(effects("aten::_fused_adamw_").is_multi_tensor);
  EXPECT_FALSE(effects("aten::add_", "Tensor").is_multi_tensor);
}

}  // namespace
}  // namespace lowtide::run
