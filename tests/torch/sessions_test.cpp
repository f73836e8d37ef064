// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Sessions beside, inside and after one another, and what they do with models that are older or
// live longer than they do.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "run/torch/interceptor.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using testing::HasSubstr;

State state_of(const Training& training, Session& session) {
  return take_state(training, test_device(), through(session));
}

State state_of(const Training& training) { return take_state(training, test_device(), {}); }

TEST(Sessions, TrainTwoModelsInTurn) {
  LT_SKIP_IF(why_skip());
  const Program& first = program("convolution_residual");
  const Program& second = program("attention_fused_dropout");
  const std::int64_t budget =
      reference(first, 3).budget(40) + reference(second, 3).budget(40) - fixed_bytes();
  const auto run = [&](Session* session) {
    std::vector<State> states;
    const auto one = first.make(test_device(), kSeed);
    const auto two = second.make(test_device(), kSeed + 1);
    for (int i = 0; i < 5; ++i) {
      for (Training* training : {one.get(), two.get()}) {
        if (session != nullptr) {
          session->step([&] { training->step(i); });
          states.push_back(state_of(*training, *session));
        } else {
          training->step(i);
          states.push_back(state_of(*training));
        }
      }
    }
    return states;
  };
  const std::vector<State> wanted = run(nullptr);
  Session session(options_for(budget));
  const std::vector<State> got = run(&session);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(first_difference(wanted[i], got[i]), std::nullopt) << "state " << i;
  }
  EXPECT_GT(session.stats().evictions, 0);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

// Steps `from` to `to` of a training, compared after each of them.
void take_steps(Training& training, Session& session, const Reference& wanted, int from, int to) {
  for (int i = from; i < to; ++i) {
    session.step([&] { training.step(i); });
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)],
                               state_of(training, session)),
              std::nullopt)
        << "step " << i;
  }
}

TEST(Sessions, NestAndTheInnermostCounts) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program("convolution_residual"), 6);
  Session outer(options_for(wanted.budget(80)));
  const auto training = program("convolution_residual").make(test_device(), kSeed);
  take_steps(*training, outer, wanted, 0, 2);
  {
    Session inner(options_for(wanted.budget(60)));
    take_steps(*training, inner, wanted, 2, 4);
    EXPECT_LE(inner.stats().peak_bytes, inner.stats().budget_bytes);
    EXPECT_GT(inner.stats().evictions, 0);
    EXPECT_EQ(inner.stats().steps, 2);
  }
  take_steps(*training, outer, wanted, 4, 6);
  EXPECT_LE(outer.stats().peak_bytes, outer.stats().budget_bytes);
}

TEST(Sessions, NestedInOnesThatHoldMoreBeginWithinTheirBudget) {
  LT_SKIP_IF(why_skip());
  const std::string device = test_device().str();
  // Two of the tensors, which are of eight bytes an element, and some room for small ones: one is
  // computed from another.
  const std::int64_t budget = fixed_bytes() + (20 << 20);
  Session outer({.device = device, .step_aside = false});
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < 8; ++i) tensors.push_back(at::full({1 << 20}, i, test_device()).add(1));
  {
    Session inner({.budget = std::to_string(budget), .device = device, .cap_reserved = false});
    EXPECT_LE(inner.stats().peak_bytes, budget);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(tensors[i].min().item<float>(), static_cast<float>(i + 1));
    }
    EXPECT_LE(inner.stats().peak_bytes, budget);
  }
  // Where what is held must stay, that is for an op to say.
  outer.hold(tensors[0]);
  EXPECT_NO_THROW(Session({.budget = "1MiB", .device = device, .cap_reserved = false}));
}

TEST(Sessions, FollowOneAnotherWithPlainStepsBetween) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program("attention_fused_dropout"), 9);
  const auto training = program("attention_fused_dropout").make(test_device(), kSeed);
  for (int i = 0; i < 9; i += 3) {
    {
      // What was there before a session may count towards its budget, so not a tight one.
      Session session(options_for(wanted.budget(80)));
      take_steps(*training, session, wanted, i, i + 2);
    }
    training->step(i + 2);
    EXPECT_EQ(
        first_difference(wanted.run.states[static_cast<std::size_t>(i + 2)], state_of(*training)),
        std::nullopt)
        << "step " << i + 2;
  }
}

TEST(Sessions, GiveBackAModelThatOutlivesThem) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program("dense_mostly_state"), 4);
  std::unique_ptr<Training> training;
  {
    SessionOptions options = options_for(0);
    options.evict_everything = true;
    Session session(options);
    training = program("dense_mostly_state").make(test_device(), kSeed);
    take_steps(*training, session, wanted, 0, 3);
  }
  EXPECT_EQ(first_difference(wanted.run.states[2], state_of(*training)), std::nullopt);
  training->step(3);
  EXPECT_EQ(first_difference(wanted.run.states[3], state_of(*training)), std::nullopt);
}

// As where two variables are swapped, or a collector of garbage has its own order.
TEST(Sessions, MayEndBeforeThoseInsideThem) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program("convolution_residual"), 6);
  auto outer = std::make_unique<Session>(options_for(wanted.budget(80)));
  auto middle = std::make_unique<Session>(options_for(wanted.budget(70)));
  auto inner = std::make_unique<Session>(options_for(wanted.budget(60)));
  const auto training = program("convolution_residual").make(test_device(), kSeed);
  take_steps(*training, *inner, wanted, 0, 2);
  middle.reset();
  take_steps(*training, *inner, wanted, 2, 3);
  outer.reset();
  const std::int64_t evictions = inner->stats().evictions;
  take_steps(*training, *inner, wanted, 3, 5);
  EXPECT_GT(inner->stats().evictions, evictions) << "its budget counts as before";
  EXPECT_LE(inner->stats().peak_bytes, inner->stats().budget_bytes);
  inner.reset();
  training->step(5);
  EXPECT_EQ(first_difference(wanted.run.states[5], state_of(*training)), std::nullopt);
  EXPECT_FALSE(run::is_thread_managed());
}

TEST(Sessions, CountStepsThatEndStepTellsOf) {
  LT_SKIP_IF(why_skip());
  const Reference& wanted = reference(program("dense_layer_norm"), 4);
  Session session(options_for(wanted.budget(60)));
  const auto training = program("dense_layer_norm").make(test_device(), kSeed);
  for (int i = 0; i < 4; ++i) {
    training->step(i);
    session.end_step();
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)],
                               state_of(*training, session)),
              std::nullopt);
  }
  EXPECT_EQ(session.stats().steps, 4);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

SessionOptions evict_all() {
  SessionOptions options = options_for(0);
  options.evict_everything = true;
  return options;
}

TEST(HeldTensor, HasADataPointerThatStays) {
  LT_SKIP_IF(why_skip());
  Session session(evict_all());
  const at::Tensor tensor = at::arange(1 << 16, at::TensorOptions(test_device()).dtype(at::kFloat));
  session.hold(tensor);
  const void* const place = tensor.const_data_ptr();
  ASSERT_NE(place, nullptr);
  const at::Tensor doubled = tensor * 2;
  EXPECT_EQ(tensor.const_data_ptr(), place);
  if (test_device().is_cpu()) {
    EXPECT_EQ(tensor.const_data_ptr<float>()[12345], 12345.0F);
  }
  session.release(tensor);
  EXPECT_EQ(doubled.sum(at::kDouble).item<double>(), 65536.0 * 65535.0);
}

TEST(HeldTensor, StaysUntilItIsReleasedAsOften) {
  LT_SKIP_IF(why_skip());
  Session session(evict_all());
  const at::Tensor tensor = at::ones({1 << 16}, test_device());
  session.hold(tensor);
  session.hold(tensor.narrow(0, 5, 10));  // the same storage
  session.release(tensor);
  EXPECT_EQ((tensor + 1).sum().item<float>(), 131072.0F);
  EXPECT_NO_THROW(tensor.const_data_ptr());
  session.release(tensor);
  const at::Tensor used = tensor + 1;
  EXPECT_ANY_THROW(tensor.const_data_ptr());
  EXPECT_EQ(used.sum().item<float>(), 131072.0F);
}

TEST(EvictedTensor, SaysThatItsDataPointerNeedsHold) {
  LT_SKIP_IF(why_skip());
  Session session(evict_all());
  const at::Tensor tensor = at::ones({1 << 16}, test_device());
  const at::Tensor other = tensor + 1;
  try {
    static_cast<void>(tensor.const_data_ptr());
    FAIL() << "an evicted tensor has no data pointer";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("hold"));
  }
  EXPECT_EQ(other.sum().item<float>(), 131072.0F);
}

struct BadOptions {
  std::string name;
  SessionOptions options;
};

class OptionsThatMakeNoSense : public testing::TestWithParam<BadOptions> {};

TEST_P(OptionsThatMakeNoSense, AreRefused) {
  LT_SKIP_IF(why_skip());
  EXPECT_THROW(Session session(GetParam().options), InvalidInput);
  // And nothing of the refused session is left.
  EXPECT_EQ(at::ones({1 << 16}, test_device()).sum().item<float>(), 65536.0F);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, OptionsThatMakeNoSense,
    testing::Values(BadOptions{"budget_without_number", {.budget = "plenty"}},
                    BadOptions{"budget_below_zero", {.budget = "-1GiB"}},
                    BadOptions{"budget_of_nothing", {.budget = "0"}},
                    BadOptions{"unknown_device", {.budget = "1GiB", .device = "abacus"}},
                    BadOptions{"host_cap_without_number",
                               {.budget = "1GiB", .device = "cpu", .host_cap = "much"}},
                    BadOptions{"floor_below_zero",
                               {.budget = "1GiB", .device = "cpu", .floor_bytes = -1}}),
    [](const auto& row) { return row.param.name; });

TEST(Session, RefusesADeviceThatIsNotThere) {
  const std::string device = at::globalContext().hasCUDA() ? "cuda:99" : "cuda";
  EXPECT_THROW(Session session({.budget = "1GiB", .device = device}), DeviceError);
}

}  // namespace
}  // namespace lowtide::torch_test
