// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/max_batch.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/_log_softmax_cpu_dispatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "train/host_memory.h"

namespace lowtide::train {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
// cudaErrorIllegalAddress: after it a GPU does nothing more.
constexpr std::int32_t kIllegalAddress = 700;
constexpr const char* kComplaint = "no engine was found to run so many examples";

// More examples than this are too many for the loss's kernel.
std::atomic<std::int64_t> most_examples = kNoLimit;
// And from here on the device fails.
std::atomic<std::int64_t> most_examples_of_device = kNoLimit;

at::Tensor log_softmax_with_a_limit(const at::Tensor& scores, std::int64_t dim,
                                    bool half_to_float) {
  if (scores.size(0) > most_examples_of_device) {
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, kIllegalAddress,
                                "an illegal memory access\nand where");
  }
  TORCH_CHECK(scores.size(0) <= most_examples, kComplaint);
  return at::cpu::_log_softmax(scores, dim, half_to_float);
}

TORCH_LIBRARY_IMPL(aten, CPU, library) { library.impl("_log_softmax", log_softmax_with_a_limit); }

class MaxBatchOfAKernelWithALimit : public testing::Test {
 protected:
  ~MaxBatchOfAKernelWithALimit() override { most_examples = most_examples_of_device = kNoLimit; }

  MaxBatch search(std::int64_t limit, const std::string& budget = "1GiB",
                  const BatchSearch& search = {.most = 9}) {
    most_examples = limit;
    RunOptions options;
    options.training.model = "lenet5";
    options.memory.budget = budget;
    Hooks hooks;
    hooks.say = [this](const std::string& message) { said_.push_back(message); };
    return max_batch(options, search, hooks);
  }

  std::vector<std::string> said_;
};

TEST_F(MaxBatchOfAKernelWithALimit, StopsBelowIt) {
  const MaxBatch found = search(5);
  EXPECT_EQ(found.managed.batch, 5);
  ASSERT_TRUE(found.plain);
  EXPECT_EQ(found.plain->batch, 5);
  EXPECT_THAT(found.tries, Contains(testing::Field(&BatchTry::batch, 6)));
  for (const BatchTry& tried : found.tries) {
    EXPECT_EQ(tried.fits(), tried.batch <= 5);
    if (!tried.fits()) {
      EXPECT_EQ(tried.refusal, kComplaint);
    }
  }
  EXPECT_THAT(said_, Contains(HasSubstr(kComplaint)));
}

TEST_F(MaxBatchOfAKernelWithALimit, LooksForNoMoreThanIsAskedFor) {
  const MaxBatch plain =
      search(5, "1GiB", {.goal = BatchGoal::kPlain, .first = 4, .most = 9, .slack = 0.5});
  ASSERT_TRUE(plain.plain);
  EXPECT_EQ(plain.plain->batch, 4);
  EXPECT_TRUE(plain.plain->is_inside_session);
  EXPECT_THAT(plain.tries, testing::ElementsAre(testing::Field(&BatchTry::batch, 4),
                                                testing::Field(&BatchTry::batch, 6),
                                                testing::Field(&BatchTry::batch, 8)));
  const MaxBatch managed = search(5, "1GiB", {.goal = BatchGoal::kManaged, .first = 9, .most = 9});
  EXPECT_EQ(managed.managed.batch, 5);
}

TEST_F(MaxBatchOfAKernelWithALimit, SaysHowFarTheFastestWasLookedFor) {
  const MaxBatch found = search(kNoLimit);
  for (const std::int64_t batch : {found.tried_below, found.tried_above}) {
    if (batch == 0) continue;
    EXPECT_THAT(found.tries, Contains(testing::Field(&BatchTry::batch, batch)));
    EXPECT_LE(std::abs(batch - found.fastest.batch), 1);
  }
  EXPECT_NE(found.tried_below + found.tried_above, 0);
}

TEST_F(MaxBatchOfAKernelWithALimit, KeepsWhatItFoundBeforeTheDeviceFailed) {
  most_examples_of_device = 4;
  const MaxBatch found = search(kNoLimit);
  EXPECT_EQ(found.failure, "an illegal memory access");
  EXPECT_EQ(found.managed.batch, 4);
  ASSERT_TRUE(found.plain);
  EXPECT_EQ(found.plain->batch, 4);
  EXPECT_GT(found.fastest.examples_per_second(), 0);
  ASSERT_FALSE(found.tries.empty());
  EXPECT_EQ(found.tries.back().batch, 8);
  EXPECT_EQ(found.tries.back().refusal, found.failure);
}

TEST_F(MaxBatchOfAKernelWithALimit, HasNothingToKeepIfTheDeviceFailsAtOnce) {
  most_examples_of_device = 0;
  EXPECT_THROW(search(kNoLimit), c10::AcceleratorError);
}

// What lies beyond invites the kernel to end us.
TEST_F(MaxBatchOfAKernelWithALimit, SearchesNoFurtherThanTheHostHasFree) {
  const MaxBatch found = search(kNoLimit, "1000TiB");
  EXPECT_EQ(found.asked_bytes, std::int64_t{1000} << 40);
  EXPECT_GT(found.budget_bytes, 0);
  EXPECT_LT(found.budget_bytes, host_memory().total_bytes);
  EXPECT_THAT(said_, Contains(HasSubstr("more than this machine has free")));
}

TEST_F(MaxBatchOfAKernelWithALimit, SaysWhatTorchSaidIfTheSmallestFailsToo) {
  try {
    search(0);
    FAIL() << "found a batch";
  } catch (const c10::Error& error) {
    EXPECT_EQ(error.what_without_backtrace(), std::string(kComplaint));
  }
}

}  // namespace
}  // namespace lowtide::train
