// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Switches of the process and modes of the thread that are turned between an op and its replay:
// what is computed again has the bits of the first time, and the switches stay as the program left
// them.
#include <functional>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

struct Switch {
  std::string name;
  // As while the op runs first, and as afterwards.
  std::function<void(bool is_first)> turn;
};

void set_convolutions(at::Float32Precision precision) {
  at::globalContext().setFloat32Precision(at::Float32Backend::MKLDNN, at::Float32Op::CONV,
                                          precision);
}

std::vector<Switch> switches() {
  return {{"Threads", [](bool is_first) { at::set_num_threads(is_first ? 3 : 1); }},
          {"OneDnn", [](bool is_first) { at::globalContext().setUserEnabledMkldnn(is_first); }},
          {"PrecisionOfConvolutions", [](bool is_first) {
             set_convolutions(is_first ? at::Float32Precision::BF16 : at::Float32Precision::IEEE);
           }}};
}

// The gradient of a convolution's weight: a sum over pictures and places, which threads, libraries
// and precisions form in different orders.
at::Tensor gradient_of_weight(const at::Tensor& pictures, const at::Tensor& gradient) {
  const at::Tensor weight = at::zeros({64, 32, 3, 3});
  return std::get<1>(at::convolution_backward(gradient, pictures, weight, c10::nullopt, {1, 1},
                                              {1, 1}, {1, 1}, false, {0, 0}, 1,
                                              {false, true, false}));
}

class TurnedSwitch : public testing::TestWithParam<Switch> {
 protected:
  TurnedSwitch() : threads_(at::get_num_threads()) {}
  ~TurnedSwitch() override {
    at::set_num_threads(threads_);
    at::globalContext().setUserEnabledMkldnn(true);
    set_convolutions(at::Float32Precision::IEEE);
  }

 private:
  int threads_;
};

TEST_P(TurnedSwitch, IsAsItWasForAReplayAndAsItIsAfterwards) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "switches of the CPU's libraries";
  const at::Tensor pictures = Data(at::kCPU, kSeed).normal({6, 32, 24, 24});
  const at::Tensor gradient = Data(at::kCPU, kSeed + 1).normal({6, 64, 24, 24});
  GetParam().turn(true);
  const at::Tensor first = gradient_of_weight(pictures, gradient);
  GetParam().turn(false);
  const at::Tensor second = gradient_of_weight(pictures, gradient);
  if (first.equal(second)) GTEST_SKIP() << "gives this machine the same bits either way";

  SessionOptions options = options_for(0, Means::kRecompute);
  options.evict_everything = true;
  Session session(options);
  GetParam().turn(true);
  const at::Tensor evicted = gradient_of_weight(pictures, gradient);
  GetParam().turn(false);
  EXPECT_TRUE(evicted.equal(first));
  EXPECT_GT(session.stats().recomputes, 0);
  EXPECT_TRUE(gradient_of_weight(pictures, gradient).equal(second));
}

SessionOptions evicting_all(Means means) {
  SessionOptions options = options_for(0, means);
  options.evict_everything = true;
  return options;
}

class EachMeans : public testing::TestWithParam<Means> {};

TEST_P(EachMeans, FindsTheDefaultTypeOfTheFirstTime) {
  LT_SKIP_IF(why_skip());
  const at::Tensor numbers = at::arange(1 << 16, at::TensorOptions(test_device()).dtype(at::kLong));
  const at::Tensor wanted = numbers.to(at::kDouble) / 3;
  const Session session(evicting_all(GetParam()));
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const at::Tensor thirds = numbers / 3;
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  EXPECT_TRUE(at::equal(thirds, wanted));
  EXPECT_EQ(c10::get_default_dtype_as_scalartype(), at::kFloat);
}

// Autograd is passed by, so that composite ops come whole. Some are annotated as views and copy.
TEST_P(EachMeans, BringsBackWhatInferenceModeCopies) {
  LT_SKIP_IF(why_skip());
  const at::Tensor x = Data(test_device(), kSeed).normal({256, 256});
  const at::Tensor turned = x.t().clone(at::MemoryFormat::Contiguous);
  const Session session(evicting_all(GetParam()));
  const c10::InferenceMode inference;
  const at::Tensor y = (x * 1).t();
  EXPECT_TRUE(at::equal(y.reshape({-1}), turned.view({-1})));
  EXPECT_TRUE(at::equal(y.contiguous(), turned));
  EXPECT_TRUE(at::equal(y.flatten(), turned.view({-1})));
  EXPECT_TRUE(at::equal(y.to(at::kDouble).to(at::kFloat), turned));
  EXPECT_TRUE(at::equal(y.narrow(0, at::full({}, 7, at::kLong), 9), turned.narrow(0, 7, 9)));
}

// An op in place that autograd does not know of, computed again where torch makes other tensors.
TEST_P(EachMeans, ReplaysInInferenceModeWhatWasDoneOutsideOfIt) {
  LT_SKIP_IF(why_skip());
  const at::Tensor x = Data(test_device(), kSeed).normal({256, 256});
  const at::Tensor wanted = x * 2 * 3;
  const Session session(evicting_all(GetParam()));
  const at::Tensor y = x * 2;
  at::_foreach_mul_({y}, 3);
  const c10::InferenceMode inference;
  EXPECT_TRUE(at::equal(y, wanted));
}

// Of which some are so small that a processor may take them for zero.
TEST_P(EachMeans, TreatsNumbersNextToZeroAsTheFirstTime) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "a switch of the processor";
  if (!at::Context::setFlushDenormal(true)) GTEST_SKIP() << "this processor has no such switch";
  at::Context::setFlushDenormal(false);
  // It is one of the thread's own.
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor x = Data(at::kCPU, kSeed).normal({256, 256});
  const at::Tensor wanted = (x * 1e-30) * 1e-10;
  const Session session(evicting_all(GetParam()));
  const at::Tensor tiny = (x * 1e-30) * 1e-10;
  at::Context::setFlushDenormal(true);
  const at::Tensor copy = tiny.clone();
  const at::Tensor gone = (x * 1e-30) * 1e-10;
  at::Context::setFlushDenormal(false);
  EXPECT_TRUE(at::equal(copy.view(at::kInt), wanted.view(at::kInt)));
  EXPECT_EQ(gone.abs().max().item<float>(), 0.0F);
  at::set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Settings, EachMeans,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

INSTANTIATE_TEST_SUITE_P(OfTheProcess, TurnedSwitch, testing::ValuesIn(switches()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace lowtide::torch_test
