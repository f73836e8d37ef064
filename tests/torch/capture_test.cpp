// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A step that a session writes down, seen as a Trace.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "lowtide/trace.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/program.h"

namespace lowtide::torch_test {
namespace {

// The second step of a program, when optimizer states exist.
struct Captured {
  Trace trace;
  std::int64_t peak_bytes;
};
Captured capture(const std::string& name) {
  const std::int64_t fixed = fixed_bytes();
  Session session(options_for(0));
  const auto training = program(name).make(test_device(), 1);
  session.step([&] { training->step(0); });
  session.reset_peaks();
  session.capture_next_step();
  session.step([&] { training->step(1); });
  return {session.captured(), session.stats().peak_bytes - fixed};
}

std::int64_t bytes_of_kind(const Trace& trace, StorageKind kind) {
  return std::accumulate(trace.storages().begin(), trace.storages().end(), std::int64_t{0},
                         [kind](std::int64_t sum, const Storage& storage) {
                           return sum + (storage.kind == kind ? storage.bytes : 0);
                         });
}

// Bytes alive during each op, its workspace included.
std::int64_t peak_of(const Trace& trace) {
  std::vector<std::int64_t> change(trace.ops().size() + 1);
  for (const Storage& storage : trace.storages()) {
    std::size_t first = trace.ops().size();
    for (std::size_t i = 0; i < trace.ops().size() && !storage.at_start; ++i) {
      const auto uses = trace.ops()[i].writes;
      const bool writes = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
        return &trace.storage_of(use.value) == &storage;
      });
      if (writes) {
        first = i;
        break;
      }
    }
    change[storage.at_start ? 0 : first] += storage.bytes;
    if (!storage.at_end) change[storage.freed_after.slot() + 1] -= storage.bytes;
  }
  std::int64_t held = 0;
  std::int64_t peak = 0;
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    held += change[i];
    peak = std::max(peak, held + trace.ops()[i].workspace_bytes);
  }
  return peak;
}

TEST(CapturedStep, HasPhasesKindsAndTimes) {
  LT_SKIP_IF(why_skip());
  const Trace trace = capture("convolution_residual").trace;
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    EXPECT_TRUE(std::any_of(trace.ops().begin(), trace.ops().end(), [phase](const Op& op) {
      return op.phase == phase;
    })) << to_string(phase);
  }
  for (const StorageKind kind : {StorageKind::kParameter, StorageKind::kGradient,
                                 StorageKind::kState, StorageKind::kActivation}) {
    EXPECT_GT(bytes_of_kind(trace, kind), 0) << to_string(kind);
  }
  EXPECT_EQ(bytes_of_kind(trace, StorageKind::kParameter),
            bytes_of_kind(trace, StorageKind::kGradient));
  const auto timed = std::count_if(trace.ops().begin(), trace.ops().end(),
                                   [](const Op& op) { return op.device_seconds.has_value(); });
  EXPECT_GT(static_cast<double>(timed), 0.9 * static_cast<double>(trace.ops().size()));
}

// On a GPU, ops are timed while it stands still; a copy from the host must not wait for that.
TEST(CapturedStep, ThatIsFedFromTheHostHasTimes) {
  LT_SKIP_IF(why_skip());
  const at::Tensor weight = at::rand({64, 64}, test_device());
  const auto step = [&] {
    at::Tensor value = at::rand({64, 64}).to(test_device());
    for (int i = 0; i < 40; ++i) value = at::tanh(value.mm(weight));
  };
  Session session(options_for(0));
  session.step(step);
  session.capture_next_step();
  session.step(step);
  const Trace trace = session.captured();
  for (const Op& op : trace.ops()) {
    EXPECT_TRUE(op.name == "rand" || op.device_seconds.has_value()) << op.name;
    // The host's time for the copy is mostly that of the device.
    if (op.name == "_to_copy") {
      EXPECT_FALSE(op.host_seconds.has_value());
    }
  }
}

TEST(CapturedStep, MarksRandomAndInPlaceOpsAndSideEffects) {
  LT_SKIP_IF(why_skip());
  const Trace trace = capture("convolution_residual").trace;
  EXPECT_TRUE(
      std::any_of(trace.ops().begin(), trace.ops().end(), [](const Op& op) { return op.random; }));
  EXPECT_TRUE(std::any_of(trace.ops().begin(), trace.ops().end(),
                          [](const Op& op) { return op.in_place; }));
  EXPECT_TRUE(std::any_of(trace.ops().begin(), trace.ops().end(), [](const Op& op) {
    return std::any_of(op.writes.begin(), op.writes.end(),
                       [](const Use& use) { return use.side_effect; });
  }));
}

// Also in a session without a budget, which keeps no records of other steps.
TEST(CapturedStep, CanRepeatWhatOverwritesWhatItMade) {
  LT_SKIP_IF(why_skip());
  const Trace trace = capture("convolution_residual").trace;
  int overwriting = 0;
  for (const Op& op : trace.ops()) {
    if (op.name != "relu_") continue;
    ++overwriting;
    EXPECT_TRUE(op.replayable);
  }
  EXPECT_GT(overwriting, 0);
}

TEST(CapturedStep, HasThePeakThatTheGateSaw) {
  LT_SKIP_IF(why_skip());
  for (const char* name : {"convolution_residual", "attention_fused", "optimizer_adam"}) {
    const Captured captured = capture(name);
    const auto measured = static_cast<double>(captured.peak_bytes);
    EXPECT_NEAR(static_cast<double>(peak_of(captured.trace)), measured, 0.05 * measured) << name;
  }
}

TEST(CapturedStep, CountsWhatDiesInItWithoutBeingUsed) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(0));
  const at::TensorOptions options = at::TensorOptions(test_device()).dtype(at::kFloat);
  at::Tensor kept = at::ones({1000}, options);
  session.capture_next_step();
  session.step([&] {
    const at::Tensor first = at::ones({10}, options);
    kept = first + first;
    static_cast<void>(kept + first);
  });
  const Trace trace = session.captured();
  const auto found = std::find_if(trace.storages().begin(), trace.storages().end(),
                                  [](const Storage& storage) { return storage.pinned; });
  ASSERT_NE(found, trace.storages().end());
  EXPECT_GE(found->bytes, 4000);
  EXPECT_TRUE(found->at_start);
  EXPECT_FALSE(found->at_end);
  EXPECT_LT(found->freed_after, trace.end());
}

TEST(CapturedStep, IsRefusedWhenThereIsNone) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(0));
  session.capture_next_step();
  EXPECT_THROW(static_cast<void>(session.captured()), InvalidInput);
}

// The layers of all ops of that name in that phase, in order.
std::vector<std::string> layers_of(const Trace& trace, Phase phase, const std::string& name) {
  std::vector<std::string> layers;
  for (const Op& op : trace.ops()) {
    if (op.phase == phase && op.name == name) layers.push_back(op.layer);
  }
  return layers;
}

TEST(CapturedStep, OpsBelongToTheLayersOfTheTensorsThatWereNamed) {
  LT_SKIP_IF(why_skip());
  using Layers = std::vector<std::string>;
  Session session(options_for(0));
  const at::TensorOptions options(test_device());
  const at::Tensor inputs = at::randn({32, 16}, options);
  const at::Tensor first = at::randn({16, 16}, options).requires_grad_();
  const at::Tensor second = at::randn({16, 16}, options).requires_grad_();
  session.name(first, "body.first.weight", "body.first");
  session.name(second, "not a name", "body.second");
  session.capture_next_step();
  session.step([&] {
    at::sum(at::mm(at::tanh(at::mm(inputs, first)), second)).backward();
    const at::NoGradGuard no_grad;
    first.sub_(first.grad());
    at::_foreach_mul_({first, second}, 2);
  });
  const Trace trace = session.captured();
  const Layers both = {"body.first", "body.second"};
  EXPECT_EQ(layers_of(trace, Phase::kForward, "mm"), both);
  EXPECT_EQ(layers_of(trace, Phase::kForward, "tanh"), Layers{"body.first"});
  EXPECT_EQ(layers_of(trace, Phase::kForward, "sum"), Layers{"body.second"});
  EXPECT_EQ(layers_of(trace, Phase::kBackward, "tanh_backward"), Layers{"body.first"});
  // Two of the second layer. The last takes no parameter, and is the first layer's by its node.
  EXPECT_EQ(layers_of(trace, Phase::kBackward, "mm"),
            (Layers{"body.second", "body.second", "body.first"}));
  EXPECT_EQ(layers_of(trace, Phase::kOptimizer, "sub_"), Layers{"body.first"});
  EXPECT_EQ(layers_of(trace, Phase::kOptimizer, "_foreach_mul_"), Layers{"body"});
  const auto named = [&](const std::string& layer) {
    return std::find_if(trace.storages().begin(), trace.storages().end(),
                        [&](const Storage& storage) { return storage.layer == layer; });
  };
  EXPECT_EQ(named("body.first")->name, "body.first.weight");
  EXPECT_EQ(named("body.first")->kind, StorageKind::kParameter);
  // That one cannot stand in a file.
  EXPECT_EQ(named("body.second")->name.front(), 's');
}

TEST(CapturedStep, HasNoLayersWithoutNames) {
  LT_SKIP_IF(why_skip());
  const Trace trace = capture("convolution_residual").trace;
  EXPECT_TRUE(std::all_of(trace.ops().begin(), trace.ops().end(),
                          [](const Op& op) { return op.layer.empty(); }));
}

}  // namespace
}  // namespace lowtide::torch_test
