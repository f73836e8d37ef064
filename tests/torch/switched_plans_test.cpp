// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Steps that begin alike and go on differently: what the plan of the one began is not taken for
// something of the other's.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "session/devices.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/event_log.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using GuidedStepP = std::shared_ptr<const engine::GuidedStep>;

constexpr int kStepsToPlan = 12;
constexpr int kSteps = kStepsToPlan + 4;

// A batch that is always the same, then one whose size is not.
std::unique_ptr<Training> train_with_two_batches(at::Device device, std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Sequential net(
      torch::nn::Linear(64, 256), torch::nn::ReLU(), torch::nn::Linear(256, 256), torch::nn::ReLU(),
      torch::nn::Linear(256, 256), torch::nn::ReLU(), torch::nn::Linear(256, 8));
  net->to(device);
  const auto data = std::make_shared<Data>(device, seed);
  const at::Tensor fixed = data->normal({1024, 64});
  return train(net.ptr(), make_sgd(*net), [net, data, fixed](int i) mutable {
    const at::Tensor first = net->forward(fixed).square().mean();
    return first + net->forward(data->normal({1024 + 256 * (i % 2), 64})).square().mean();
  });
}

// The plans of even and odd steps.
struct Plans {
  GuidedStepP even;
  GuidedStepP odd;
};

Plans make_plans(Training& training, const Reference& wanted) {
  SessionOptions options = options_for(wanted.budget(60), Means::kHost);
  options.policy = "evict_all";
  options.wait_for_plans = true;
  run::Runtime& runtime = session::device_named(options.device, {}).runtime;
  EventLog log(runtime);
  Session session(options);
  Plans plans;
  for (int i = 0; i < kStepsToPlan; ++i) {
    session.step([&] {
      log.start();
      training.step(i);
    });
    (i % 2 == 0 ? plans.even : plans.odd) = log.step();
  }
  EXPECT_EQ(session.stats().plans, 2) << session.stats().no_plan_reason;
  return plans;
}

// Does the same, but each action has another number.
GuidedStepP numbered_backwards(const engine::GuidedStep& step) {
  Plan plan = step.plan();
  std::reverse(plan.actions.begin(), plan.actions.end());
  return std::make_shared<engine::GuidedStep>(step.captured(), std::move(plan));
}

std::size_t parting_of(const engine::StepScript& a, const engine::StepScript& b) {
  std::size_t ops = 0;
  while (a.begins_as(b, ops + 1)) ++ops;
  return ops;
}

TEST(SwitchedPlans, KeepTheirActionsApart) {
  LT_SKIP_IF(why_skip());
  if (!test_device().is_cpu()) GTEST_SKIP() << "on a GPU times are known later";
  const Program program = {.name = "two_batches", .make = train_with_two_batches};
  const Reference& wanted = reference(program, kSteps);
  const auto training = program.make(test_device(), kSeed);
  const Plans plans = make_plans(*training, wanted);
  ASSERT_TRUE(plans.even && plans.odd);
  ASSERT_NE(plans.even->shape(), plans.odd->shape());
  const std::size_t parting = parting_of(plans.even->script(), plans.odd->script());
  ASSERT_GT(parting, 10U);

  // A session that makes no plans is given these.
  Session session(options_for(wanted.budget(60), Means::kHost));
  run::Runtime& runtime = session::device_named(test_device().str(), {}).runtime;
  {
    const run::Books::Lock lock(runtime.books());
    runtime.guide().add_plan(plans.even);
    runtime.guide().add_plan(numbered_backwards(*plans.odd));
    // So that moves are due when the step turns out to be another one.
    runtime.books().rules.most_bytes_in_flight = 1;
  }
  const auto take_step = [&](int i) {
    session.step([&] {
      runtime.begin_step({.is_guided = true, .is_timed = true});
      training->step(i);
    });
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)],
                               take_state(*training, test_device(), through(session))),
              std::nullopt)
        << "step " << i;
    const run::Books::Lock lock(runtime.books());
    return runtime.guide().take_stalls();
  };
  for (int i = kStepsToPlan; i < kSteps; ++i) {
    SCOPED_TRACE(i);
    const std::optional<run::StepStalls> measured = take_step(i);
    ASSERT_TRUE(measured);
    const bool is_even = i % 2 == 0;
    ASSERT_TRUE(measured->step);
    EXPECT_EQ(measured->step->shape(), (is_even ? plans.even : plans.odd)->shape());
    EXPECT_FALSE(measured->stalls.empty());
    for (const engine::Stall& stall : measured->stalls) {
      const auto& actions = measured->step->plan().actions;
      ASSERT_LT(static_cast<std::size_t>(stall.action), actions.size());
      const Fetch* fetch = std::get_if<Fetch>(&actions[static_cast<std::size_t>(stall.action)]);
      ASSERT_TRUE(fetch != nullptr) << stall.action;
      // Each step begins by the plan of the one before.
      EXPECT_GE(fetch->issue_before.slot(), parting) << stall.action;
    }
  }
}

}  // namespace
}  // namespace lowtide::torch_test
