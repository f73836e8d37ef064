// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Copies that fail. A failing copy to the host leaves the value where it is, and something else
// goes; a failing copy back stops the step with a typed error, and nothing is lost.
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/faulty_device.h"
#include "torch/plain_run.h"
#include "torch/program.h"

namespace lowtide::torch_test {
namespace {

[[maybe_unused]] const bool is_wrapped = [] {
  make_devices_faulty();
  return true;
}();

constexpr int kSteps = 4;

const Program& chosen() { return program("convolution_residual"); }

// What a run comes to.
enum class End { kRight, kOutOfMemory, kDeviceError };

End run_to_the_end(const SessionOptions& options, const PlainRun& wanted) {
  try {
    const ManagedRun run = run_managed(chosen(), options, wanted);
    EXPECT_FALSE(run.difference) << *run.difference;
    return End::kRight;
  } catch (const OutOfMemory&) {
    return End::kOutOfMemory;
  } catch (const DeviceError&) {
    return End::kDeviceError;
  }
}

void expect_nothing_left_behind(const SessionOptions& options, const PlainRun& wanted) {
  stop_failing_copies();
  EXPECT_EQ(run_to_the_end(options, wanted), End::kRight);
}

TEST(CopiesToTheHost, ThatFailOnceDoNoHarm) {
  LT_SKIP_IF(why_skip());
  const Reference& plain = reference(chosen(), kSteps);
  for (const Means means : {Means::kHost, Means::kMixed}) {
    const SessionOptions options = options_for(plain.budget(60), means);
    for (int number = 0; number < 60; number += 7) {
      fail_copies(Copies::kOut, number, false);
      EXPECT_EQ(run_to_the_end(options, plain.run), End::kRight) << name_of(means) << number;
    }
  }
  stop_failing_copies();
}

TEST(CopiesToTheHost, ThatFailForGoodLeaveRecomputation) {
  LT_SKIP_IF(why_skip());
  const Reference& plain = reference(chosen(), kSteps);
  const SessionOptions options = options_for(plain.budget(80));
  for (const int number : {0, 5, 50}) {
    fail_copies(Copies::kOut, number, true);
    EXPECT_EQ(run_to_the_end(options, plain.run), End::kRight) << number;
  }
  expect_nothing_left_behind(options, plain.run);
}

TEST(CopiesToTheHost, ThatFailForGoodAreATypedErrorWhereNothingElseIsAllowed) {
  LT_SKIP_IF(why_skip());
  const Reference& plain = reference(chosen(), kSteps);
  const SessionOptions options = options_for(plain.budget(60), Means::kHost);
  fail_copies(Copies::kOut, 0, true);
  EXPECT_EQ(run_to_the_end(options, plain.run), End::kOutOfMemory);
  EXPECT_GT(failed_copies(), 0);
  expect_nothing_left_behind(options, plain.run);
}

// The value stays on the host, and is whole as soon as copies work again.
TEST(CopiesFromTheHost, ThatFailAreATypedErrorAndLoseNothing) {
  LT_SKIP_IF(why_skip());
  SessionOptions options = options_for(0, Means::kHost);
  options.evict_everything = true;
  Session session(options);
  const at::Tensor tensor = at::arange(1 << 16, at::TensorOptions(test_device()).dtype(at::kFloat));
  at::Tensor more = tensor + 1;
  for (const bool for_good : {false, true}) {
    fail_copies(Copies::kIn, 0, for_good);
    EXPECT_THROW(more.add_(tensor), DeviceError);
    EXPECT_EQ(failed_copies(), 1);
    stop_failing_copies();
  }
  more.add_(tensor);
  session.end_step();
  session.hold(more);
  const at::Tensor numbers = at::arange(1 << 16, at::kFloat);
  EXPECT_TRUE(at::equal(more.cpu(), numbers + 1 + numbers));
}

TEST(CopiesFromTheHost, ThatFailInTheMiddleOfAStepLeaveTheSessionUsable) {
  LT_SKIP_IF(why_skip());
  const Reference& plain = reference(chosen(), kSteps);
  const SessionOptions options = options_for(plain.budget(60), Means::kHost);
  for (int number = 0; number < 60; number += 7) {
    fail_copies(Copies::kIn, number, false);
    EXPECT_EQ(run_to_the_end(options, plain.run), End::kDeviceError) << number;
    expect_nothing_left_behind(options, plain.run);
  }
}

// A plan begins copies long before their bytes are asked for.
class CopiesOfAPlan : public testing::TestWithParam<std::tuple<Copies, bool>> {};

TEST_P(CopiesOfAPlan, ThatFailEndInTheRightBitsOrInATypedError) {
  LT_SKIP_IF(why_skip());
  constexpr int kGuidedSteps = 6;
  const auto& [which, for_good] = GetParam();
  const Reference& plain = reference(chosen(), kGuidedSteps);
  SessionOptions options = options_for(plain.budget(60), Means::kHost);
  options.policy = "capuchin";
  options.wait_for_plans = true;
  stop_failing_copies();
  const SessionStats undisturbed = run_managed(chosen(), options, plain.run).stats;
  ASSERT_GT(undisturbed.guided_steps - undisturbed.guidance_broken_off, 1);
  ASSERT_GT(undisturbed.prefetches, 0);
  int hit = 0;
  for (int number = 3; number < 160; number += 9) {
    fail_copies(which, number, for_good);
    const End end = run_to_the_end(options, plain.run);
    if (failed_copies() > 0) ++hit;
    EXPECT_TRUE(end == End::kRight || failed_copies() > 0) << number;
    if (number % 4 == 0) expect_nothing_left_behind(options, plain.run);
  }
  stop_failing_copies();
  EXPECT_GT(hit, 10);
}

std::string name_of_fault(const testing::TestParamInfo<std::tuple<Copies, bool>>& info) {
  return std::string(std::get<Copies>(info.param) == Copies::kOut ? "Out" : "In") +
         (std::get<bool>(info.param) ? "ForGood" : "Once");
}

INSTANTIATE_TEST_SUITE_P(OnceOrForGood, CopiesOfAPlan,
                         testing::Combine(testing::Values(Copies::kOut, Copies::kIn),
                                          testing::Bool()),
                         name_of_fault);

}  // namespace
}  // namespace lowtide::torch_test
