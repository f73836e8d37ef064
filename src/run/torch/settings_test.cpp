// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/settings.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

namespace lowtide::run {
namespace {

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

// Of a process without a GPU too: what its libraries may do is written down in torch all the same.
class PrecisionSettings : public testing::Test {
 protected:
  static Float32Precision of(Float32Backend backend, Float32Op op) {
    return at::globalContext().float32Precision(backend, op);
  }
  static void set(Float32Backend backend, Float32Op op, Float32Precision precision) {
    at::globalContext().setFloat32Precision(backend, op, precision);
  }
  ~PrecisionSettings() override {
    for (const Float32Op op :
         {Float32Op::ALL, Float32Op::MATMUL, Float32Op::CONV, Float32Op::RNN}) {
      set(Float32Backend::MKLDNN, op, Float32Precision::NONE);
    }
  }
};

TEST_F(PrecisionSettings, OfAGpuAreInForceWhileAReplayRunsAndAsTheyWereAfterwards) {
  const Settings before = Settings::now(PrecisionsOf::kCuda);
  Settings first = before;
  first.precisions.float32 = {Float32Precision::TF32, Float32Precision::IEEE,
                              Float32Precision::IEEE};
  first.precisions.float16_reduction =
      static_cast<std::uint8_t>(at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK);
  first.precisions.bfloat16_reduction =
      static_cast<std::uint8_t>(at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK);
  first.precisions.float16_accumulation = !before.precisions.float16_accumulation;
  first.precisions.attention_reduces_in_16_bits = !before.precisions.attention_reduces_in_16_bits;
  ASSERT_NE(first, before);
  {
    const SettingsGuard guard(first);
    EXPECT_EQ(Settings::now(PrecisionsOf::kCuda).precisions, first.precisions);
  }
  EXPECT_EQ(Settings::now(PrecisionsOf::kCuda), before);
}

// Kernels of a GPU ask for both, and throw where they disagree.
TEST_F(PrecisionSettings, OfAGpuAgreeWithTorchsOlderSwitch) {
  at::Context& context = at::globalContext();
  const Float32Precision on_cpu = of(Float32Backend::MKLDNN, Float32Op::MATMUL);
  Settings rounded = Settings::now(PrecisionsOf::kCuda);
  rounded.precisions.float32[0] = Float32Precision::TF32;
  { const SettingsGuard guard(rounded); }
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::MATMUL), on_cpu);
  for (const char* during : {"high", "medium", "highest"}) {
    for (const char* after : {"highest", "medium", "high"}) {
      context.setFloat32MatmulPrecision(during);
      const Settings first = Settings::now(PrecisionsOf::kCuda);
      const bool may_round = context.allowTF32CuBLAS();
      context.setFloat32MatmulPrecision(after);
      const Settings before = Settings::now(PrecisionsOf::kCuda);
      const Settings before_on_cpu = Settings::now(PrecisionsOf::kCpu);
      const at::Float32MatmulPrecision older = context.float32MatmulPrecision();
      {
        const SettingsGuard guard(first);
        EXPECT_EQ(context.allowTF32CuBLAS(), may_round) << during << ", then " << after;
      }
      EXPECT_EQ(context.float32MatmulPrecision(), older) << during << ", then " << after;
      EXPECT_EQ(Settings::now(PrecisionsOf::kCuda), before);
      EXPECT_EQ(Settings::now(PrecisionsOf::kCpu), before_on_cpu);
    }
  }
  context.setFloat32MatmulPrecision("highest");
}

TEST_F(PrecisionSettings, ThatAreInheritedStaySo) {
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::BF16);
  const Settings first = Settings::now(PrecisionsOf::kCpu);
  set(Float32Backend::MKLDNN, Float32Op::CONV, Float32Precision::IEEE);
  {
    const SettingsGuard guard(first);
    EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::BF16);
  }
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::IEEE);
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::TF32);
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::RNN), Float32Precision::TF32);
}

// Also those that were changed for the replay.
TEST_F(PrecisionSettings, AreInheritedAfterAReplayUnderOthers) {
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::BF16);
  const Settings first = Settings::now(PrecisionsOf::kCpu);
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::TF32);
  set(Float32Backend::MKLDNN, Float32Op::RNN, Float32Precision::TF32);
  {
    const SettingsGuard guard(first);
    EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::BF16);
    EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::RNN), Float32Precision::BF16);
  }
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::TF32);
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::IEEE);
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::IEEE);
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::RNN), Float32Precision::TF32);
  // What all backends inherit from.
  set(Float32Backend::MKLDNN, Float32Op::ALL, Float32Precision::NONE);
  set(Float32Backend::GENERIC, Float32Op::ALL, Float32Precision::TF32);
  { const SettingsGuard guard(first); }
  set(Float32Backend::GENERIC, Float32Op::ALL, Float32Precision::IEEE);
  EXPECT_EQ(of(Float32Backend::MKLDNN, Float32Op::CONV), Float32Precision::IEEE);
  set(Float32Backend::GENERIC, Float32Op::ALL, Float32Precision::NONE);
}

}  // namespace
}  // namespace lowtide::run
