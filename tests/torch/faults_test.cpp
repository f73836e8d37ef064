// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Memory that fails: at every k-th allocation, once and for good; host memory that runs out. A
// run goes on with the right bits or stops with a typed error, and nothing is lost.
#include <atomic>
#include <new>

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/meter.h"
#include "torch/plain_run.h"
#include "torch/program.h"

namespace lowtide::torch_test {
namespace {

// The meter, but some of its allocations fail.
class FailingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes < kLeastBytes) return base_->allocate(bytes);
    const std::int64_t left = left_.fetch_sub(1);
    const bool fails = is_on_ && (left == 0 || (left < 0 && for_good_));
    if (fails) {
      failures_.fetch_add(1);
      throw std::bad_alloc();
    }
    return base_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    base_->copy_data(to, from, bytes);
  }

  void fail_at(std::int64_t allocation, bool for_good) {
    left_ = allocation;
    for_good_ = for_good;
    is_on_ = true;
  }
  void stop_failing() { is_on_ = false; }
  // How many allocations have failed.
  std::int64_t failures() const { return failures_; }

 private:
  // Torch itself may die of a failing allocation of a few bytes, so only others count.
  static constexpr std::size_t kLeastBytes = 4096;
  static c10::Allocator* meter() {
    install_meter();
    return c10::GetCPUAllocator();
  }

  c10::Allocator* base_ = meter();
  std::atomic<std::int64_t> left_{0};
  std::atomic<std::int64_t> failures_{0};
  std::atomic<bool> for_good_{false};
  std::atomic<bool> is_on_{false};
};

FailingAllocator& failing() {
  static auto& allocator = *new FailingAllocator;
  return allocator;
}

// Below the gate, which takes the allocator that it finds at the first session of the process.
[[maybe_unused]] const bool is_installed = [] {
  c10::SetCPUAllocator(&failing(), 255);
  return true;
}();

constexpr int kSteps = 3;

// One run in which memory fails. True: it came through, with the right bits. Either way nothing is
// kept of it.
bool survives(const Program& failing_program, const PlainRun& wanted, const SessionOptions& options,
              std::int64_t allocation, bool for_good) {
  const std::int64_t held_before = metered_bytes();
  bool came_through = false;
  failing().fail_at(allocation, for_good);
  try {
    const ManagedRun run = run_managed(failing_program, options, wanted);
    failing().stop_failing();
    EXPECT_FALSE(run.difference) << *run.difference << " after failure " << allocation;
    came_through = true;
  } catch (const OutOfMemory&) {
    failing().stop_failing();
  }
  EXPECT_GT(metered_peak_bytes(), held_before);
  EXPECT_EQ(metered_bytes(), held_before) << "after failure " << allocation;
  return came_through;
}

class FailingMemory : public testing::TestWithParam<bool> {};

TEST_P(FailingMemory, EndsInTheRightBitsOrInATypedError) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "fails torch's CPU allocator";
  const Program& chosen = program("convolution_residual");
  const Reference& plain = reference(chosen, kSteps);
  const SessionOptions options = options_for(plain.budget(60));
  int survived = 0;
  int stopped = 0;
  int hit = 0;
  for (std::int64_t allocation = 1; allocation < 700; allocation += 17) {
    const std::int64_t failures_before = failing().failures();
    ++(survives(chosen, plain.run, options, allocation, GetParam()) ? survived : stopped);
    if (failing().failures() > failures_before) ++hit;
    // Nothing is left behind: the same program runs as if nothing had been.
    const bool is_checked = allocation % 5 == 0;
    EXPECT_TRUE(!is_checked || survives(chosen, plain.run, options, 1 << 30, false));
  }
  EXPECT_GT(survived + stopped, 40);
  EXPECT_GT(hit, 30);
  EXPECT_GT(GetParam() ? stopped : survived, 0);
}

// In steps that a plan guides, and in those in which it is made.
TEST_P(FailingMemory, UnderAPlanEndsInTheRightBitsOrInATypedError) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "fails torch's CPU allocator";
  constexpr int kGuidedSteps = 6;
  const Program& chosen = program("convolution_residual");
  const Reference& plain = reference(chosen, kGuidedSteps);
  SessionOptions options = options_for(plain.budget(60));
  options.policy = "capuchin";
  options.wait_for_plans = true;
  const SessionStats undisturbed = run_managed(chosen, options, plain.run).stats;
  ASSERT_GT(undisturbed.guided_steps - undisturbed.guidance_broken_off, 1);
  int survived = 0;
  int stopped = 0;
  for (std::int64_t allocation = 300; allocation < 1800; allocation += 61) {
    ++(survives(chosen, plain.run, options, allocation, GetParam()) ? survived : stopped);
  }
  EXPECT_TRUE(survives(chosen, plain.run, options, 1 << 30, false));
  EXPECT_GT(GetParam() ? stopped : survived, 0);
}

INSTANTIATE_TEST_SUITE_P(OnceOrForGood, FailingMemory, testing::Bool(),
                         [](const auto& which) { return which.param ? "ForGood" : "Once"; });

TEST(HostMemory, ThatIsFullLeavesRecomputation) {
  LT_SKIP_IF(why_skip());
  const Program& chosen = program("convolution_residual");
  const Reference& plain = reference(chosen, kSteps);
  SessionOptions options = options_for(plain.budget(70));
  options.host_cap = "64KiB";
  const ManagedRun run = run_managed(chosen, options, plain.run);
  EXPECT_FALSE(run.difference) << *run.difference;
  EXPECT_LE(run.stats.host_peak_bytes, 64 << 10);
  EXPECT_GT(run.stats.recomputes, 0);
}

TEST(HostMemory, ThatIsFreeAgainTakesWhatItRefused) {
  LT_SKIP_IF(why_skip());
  SessionOptions options = options_for(fixed_bytes() + (4 << 20), Means::kHost);
  options.host_cap = "2MiB";
  Session session(options);
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  at::Tensor first = at::ones({2 << 18}, floats);
  const at::Tensor kept = at::ones({2 << 18}, floats);
  {
    // The first one goes for it, and fills the host.
    const at::Tensor second = at::ones({2 << 18}, floats);
    EXPECT_EQ(session.stats().host_bytes, 2 << 20);
    EXPECT_THROW(at::ones({3 << 18}, floats), OutOfMemory);
  }
  first.reset();
  EXPECT_EQ(at::ones({3 << 18}, floats).sum().item<float>(), 3 << 18);
  EXPECT_EQ(kept.sum().item<float>(), 2 << 18);
}

}  // namespace
}  // namespace lowtide::torch_test
