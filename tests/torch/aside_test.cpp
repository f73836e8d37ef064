// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Steps that fit are not watched; and when one that is not watched does not fit after all, it is
// right none the less, and within the budget.
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/meter.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using BatchOfStep = std::function<std::int64_t(int)>;

std::unique_ptr<Training> train_with_batches(const BatchOfStep& batch_of) {
  const at::Device device = test_device();
  torch::manual_seed(kSeed);
  torch::nn::Sequential net(torch::nn::Linear(64, 256), torch::nn::ReLU(), torch::nn::Dropout(0.2),
                            torch::nn::Linear(256, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 8));
  net->to(device);
  const auto data = std::make_shared<Data>(device, kSeed);
  return train(net.ptr(), make_adam(*net), [net, data, batch_of](int i) mutable {
    return net->forward(data->normal({batch_of(i), 64})).square().mean();
  });
}

constexpr int kSteps = 12;

std::int64_t all_small(int) { return 256; }
// Two large ones among them; the states of the optimizer are made in the first step.
std::int64_t some_large(int i) { return i == 5 || i == 7 ? 2048 : 256; }
std::int64_t first_large(int i) { return i == 0 ? 256 : 2048; }

Program program_with(const BatchOfStep& batch_of, const std::string& name) {
  return {.name = name,
          .make = [batch_of](at::Device, std::uint64_t) { return train_with_batches(batch_of); }};
}

void expect_same_states(const Reference& wanted, Training& training, Session& session, int steps) {
  for (int i = 0; i < steps; ++i) {
    session.step([&] { training.step(i); });
    const State state = take_state(training, test_device(), through(session));
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)], state), std::nullopt)
        << "step " << i;
  }
}

TEST(Aside, AStepThatFitsIsNotWatched) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program_with(all_small, "all_small"), kSteps);
  Session session(options_for(wanted.budget(130)));
  const auto training = train_with_batches(all_small);
  expect_same_states(wanted, *training, session, 3);
  const SessionStats early = session.stats();
  for (int i = 3; i < kSteps; ++i) session.step([&] { training->step(i); });
  const SessionStats late = session.stats();
  EXPECT_EQ(late.ops, early.ops);
  EXPECT_EQ(late.steps, kSteps);
  EXPECT_GE(late.steps_aside, kSteps - 3);
  EXPECT_EQ(late.overflow_bytes, 0);
  EXPECT_EQ(first_difference(wanted.run.states.back(),
                             take_state(*training, test_device(), through(session))),
            std::nullopt);
}

TEST(Aside, WithoutABudgetNothingIsWatchedAfterTheFirstStep) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(0));
  const auto training = train_with_batches(some_large);
  for (int i = 0; i < kSteps; ++i) session.step([&] { training->step(i); });
  EXPECT_EQ(session.stats().steps_aside, kSteps - 1);
  EXPECT_GT(session.stats().peak_bytes, 0);
}

TEST(Aside, CanBeSwitchedOff) {
  LT_SKIP_IF(why_skip());
  SessionOptions options = options_for(0);
  options.step_aside = false;
  Session session(options);
  const auto training = train_with_batches(all_small);
  for (int i = 0; i < 3; ++i) session.step([&] { training->step(i); });
  EXPECT_EQ(session.stats().steps_aside, 0);
}

TEST(Aside, AStepThatSuddenlyTakesMoreIsRightAndWithinTheBudget) {
  LT_SKIP_IF(why_skip());
  const Program sudden = program_with(some_large, "some_large");
  const Reference& wanted = reference(sudden, kSteps);
  const std::int64_t budget = wanted.budget(70);
  Session session(options_for(budget));
  const auto training = train_with_batches(some_large);
  reset_metered_peak();
  expect_same_states(wanted, *training, session, kSteps);
  const SessionStats stats = session.stats();
  EXPECT_GT(stats.overflow_bytes, 0) << "the first large step came as a surprise";
  EXPECT_GT(stats.evictions, 0) << "the second one was watched";
  EXPECT_LE(stats.peak_bytes, budget);
  EXPECT_GE(stats.steps_aside, 4);
}

TEST(Aside, WhatStaysInHostMemoryComesBackWhenTheOpsAreWatchedAgain) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(fixed_bytes() + (8 << 20)));
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  at::Tensor kept;
  session.step([] {});
  session.step([&] {
    const at::Tensor most = at::zeros({7 << 18}, floats);
    kept = at::arange(1 << 19, floats);
  });
  ASSERT_GT(session.stats().overflow_bytes, 0);
  const std::int64_t held = session.stats().held_bytes;
  session.step([&] { kept.add_(1); });
  EXPECT_EQ(session.stats().held_bytes, held + (1 << 21));
  EXPECT_EQ(session.stats().bytes_from_host, 1 << 21);
  const at::Tensor wanted = at::arange(1 << 19, at::kFloat) + 1;
  EXPECT_TRUE(at::equal(kept.cpu(), wanted));
}

TEST(Aside, IsRefusedWhenHostMemoryIsFullToo) {
  LT_SKIP_IF(why_skip());
  SessionOptions options = options_for(fixed_bytes() + (8 << 20));
  options.host_cap = "1MiB";
  Session session(options);
  session.step([] {});
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  EXPECT_THROW(session.step([&] { at::zeros({16 << 18}, floats); }), OutOfMemory);
  session.step([&] { at::zeros({1 << 18}, floats); });
}

TEST(Aside, AHeldTensorStaysWhereItIs) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(fixed_bytes() + (8 << 20)));
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  session.step([] {});
  at::Tensor most = at::zeros({7 << 18}, floats);
  at::Tensor held = at::ones({1 << 19}, floats);
  session.hold(held);
  const void* data = held.const_data_ptr();
  session.end_step();
  most.add_(1);
  session.end_step();
  EXPECT_EQ(held.const_data_ptr(), data);
  EXPECT_EQ(held.sum().item<float>(), 1 << 19);
  session.release(held);
  EXPECT_EQ(held.sum().item<float>(), 1 << 19);
}

TEST(Aside, AnInnerSessionWatches) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program_with(first_large, "first_large"), kSteps);
  Session outer(options_for(0));
  const auto training = train_with_batches(first_large);
  for (int i = 0; i < 3; ++i) outer.step([&] { training->step(i); });
  EXPECT_EQ(outer.stats().steps_aside, 2);
  {
    Session inner(options_for(wanted.budget(75)));
    for (int i = 3; i < 6; ++i) inner.step([&] { training->step(i); });
    EXPECT_GT(inner.stats().evictions, 0);
    EXPECT_LE(inner.stats().peak_bytes, inner.stats().budget_bytes);
  }
  for (int i = 6; i < kSteps; ++i) outer.step([&] { training->step(i); });
  EXPECT_GT(outer.stats().steps_aside, 4);
  EXPECT_EQ(first_difference(wanted.run.states.back(),
                             take_state(*training, test_device(), through(outer))),
            std::nullopt);
}

TEST(Aside, ACapturedStepIsWatched) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(0));
  const auto training = train_with_batches(all_small);
  for (int i = 0; i < 3; ++i) session.step([&] { training->step(i); });
  session.capture_next_step();
  session.step([&] { training->step(3); });
  EXPECT_GT(session.captured().ops().size(), 10U);
  session.step([&] { training->step(4); });
  EXPECT_EQ(session.stats().steps_aside, 3);
}

TEST(Aside, AThreadWithAGuardPassesBy) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program_with(all_small, "all_small"), kSteps);
  Session session(options_for(0));
  session.step([] {});
  std::unique_ptr<Training> training;
  std::thread worker([&] {
    const Session::ThreadGuard guard(session);
    training = train_with_batches(all_small);
    for (int i = 0; i < kSteps; ++i) training->step(i);
  });
  worker.join();
  EXPECT_EQ(session.stats().ops, 0);
  EXPECT_EQ(first_difference(wanted.run.states.back(),
                             take_state(*training, test_device(), through(session))),
            std::nullopt);
}

TEST(Aside, WhatAThreadWithAGuardMadeMeanwhileCanBeEvicted) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(fixed_bytes() + (8 << 20), Means::kHost));
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  session.step([] {});
  std::vector<at::Tensor> made;
  std::thread worker([&] {
    const Session::ThreadGuard guard(session);
    for (int i = 0; i < 7; ++i) made.push_back(at::full({1 << 18}, i, floats));
  });
  worker.join();
  session.capture_next_step();
  at::Tensor sum;
  session.step([&] { sum = at::zeros({3 << 18}, floats).add_(1); });
  EXPECT_GT(session.stats().moves, 0);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(made[static_cast<std::size_t>(i)].sum().item<float>(),
              static_cast<float>(i) * (1 << 18));
  }
}

}  // namespace
}  // namespace lowtide::torch_test
