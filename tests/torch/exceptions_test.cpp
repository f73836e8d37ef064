// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Steps that end half-way by an exception of the user's.
#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/programs/throwing.h"

namespace lowtide::torch_test {
namespace {

using Case = std::tuple<ThrowsIn, Means>;

class ThrowingSteps : public testing::TestWithParam<Case> {};

// Steps 1, 4 and 7 of ten throw inside of step(); those in between and after must not notice.
TEST_P(ThrowingSteps, LeaveTheStateOfThePlainRun) {
  LT_SKIP_IF(why_skip());
  const auto& [where, means] = GetParam();
  expect_identical(throwing_program(where), 10, 50, options_for(0, means));
}

TEST_P(ThrowingSteps, PassTheirExceptionThroughTheSession) {
  LT_SKIP_IF(why_skip());
  const auto& [where, means] = GetParam();
  const Reference& wanted = reference(throwing_program(where), 4);
  Session session(options_for(wanted.budget(80), means));
  const std::unique_ptr<Training> training = throwing_program(where).make(test_device(), kSeed);
  for (int i = 0; i < 4; ++i) {
    const auto step = [&] { session.step([&] { training->step(i); }); };
    if (step_throws(i)) {
      EXPECT_THROW(step(), PlannedFailure) << "step " << i;
    } else {
      EXPECT_NO_THROW(step()) << "step " << i;
    }
    const State state = take_state(*training, test_device(), through(session));
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)], state), std::nullopt)
        << "step " << i;
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const std::string where =
      std::get<0>(info.param) == ThrowsIn::kForward ? "in_forward" : "in_backward";
  return where + "_" + name_of(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Places, ThrowingSteps,
                         testing::Combine(testing::Values(ThrowsIn::kForward, ThrowsIn::kBackward),
                                          testing::Values(Means::kRecompute, Means::kHost,
                                                          Means::kMixed)),
                         name_of_case);

// A step after which the session goes at once, while its values are in all places.
TEST(ThrowingStep, LetTheSessionEndRightAfterwards) {
  LT_SKIP_IF(why_skip());
  const Program program = throwing_program(ThrowsIn::kBackward);
  const Reference& wanted = reference(program, 2);
  std::unique_ptr<Training> training;
  {
    Session session(options_for(wanted.budget(50)));
    training = program.make(test_device(), kSeed);
    session.step([&] { training->step(0); });
    EXPECT_THROW(session.step([&] { training->step(1); }), PlannedFailure);
  }
  EXPECT_EQ(first_difference(wanted.run.states[1], take_state(*training, test_device(), {})),
            std::nullopt);
}

// When the one branch throws, the other one is due.
TEST(ThrowingStep, LeavesNothingOfItsGraph) {
  LT_SKIP_IF(why_skip());
  Session session(options_for(0));
  const auto step = [&](bool throws) {
    session.step([&] {
      const at::Tensor x = at::ones({1000, 100}, test_device()).requires_grad_();
      const at::Tensor due = x.exp();
      (throws ? throw_in_backward(x) : x).add(due).sum().backward();
    });
  };
  step(false);
  const std::int64_t held = session.stats().held_bytes;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(step(true), PlannedFailure);
    EXPECT_EQ(session.stats().held_bytes, held);
  }
  step(false);
  EXPECT_EQ(session.stats().held_bytes, held);
}

}  // namespace
}  // namespace lowtide::torch_test
