// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/max_batch.h"

#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/_log_softmax_cpu_dispatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

namespace lowtide::train {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr const char* kComplaint = "no engine was found to run so many examples";

// More examples than this are too many for the loss's kernel.
std::atomic<std::int64_t> most_examples = kNoLimit;

at::Tensor log_softmax_with_a_limit(const at::Tensor& scores, std::int64_t dim,
                                    bool half_to_float) {
  TORCH_CHECK(scores.size(0) <= most_examples, kComplaint);
  return at::cpu::_log_softmax(scores, dim, half_to_float);
}

TORCH_LIBRARY_IMPL(aten, CPU, library) { library.impl("_log_softmax", log_softmax_with_a_limit); }

class MaxBatchOfAKernelWithALimit : public testing::Test {
 protected:
  ~MaxBatchOfAKernelWithALimit() override { most_examples = kNoLimit; }

  MaxBatch search(std::int64_t limit) {
    most_examples = limit;
    RunOptions options;
    options.training.model = "lenet5";
    options.memory.budget = "1GiB";
    Hooks hooks;
    hooks.say = [this](const std::string& message) { said_.push_back(message); };
    return max_batch(options, 9, hooks);
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
