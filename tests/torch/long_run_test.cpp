// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A thousand steps under each optimizer: what the runtime remembers and does in a step must not
// grow, or else states that are never made anew chain back to the first step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 1000;
constexpr int kWarm = 10;
// What is done in so many steps after the warm ones, and in the last ones, is compared.
constexpr int kSpan = 200;

// Small enough for a thousand steps in seconds, with storages above a floor of 4 KiB.
std::unique_ptr<Training> make_tiny(const OptimizerRow& row, at::Device device) {
  auto model = make_model<LinearStack>(device, kSeed, LinearStackShape{32, 32, 4, 3});
  const at::Tensor inputs = Data(device, kSeed).normal({4, 64, 32});
  const at::Tensor wanted = Data(device, kSeed + 1).normal({64, 4});
  return train(model, row.make(model->parameters()), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

using Clock = std::chrono::steady_clock;

struct LongRun {
  State state;
  // After the warm steps, a span later, a span before the end, and at the end.
  SessionStats warm;
  SessionStats early;
  SessionStats late;
  SessionStats last;
  std::chrono::duration<double> early_seconds{};
  std::chrono::duration<double> late_seconds{};
};

LongRun run(const OptimizerRow& row, SessionOptions options) {
  options.floor_bytes = 4 << 10;
  Session session(options);
  const std::unique_ptr<Training> training = make_tiny(row, test_device());
  LongRun result;
  Clock::time_point mark;
  for (int i = 1; i <= kSteps; ++i) {
    session.step([&] { training->step(i - 1); });
    if (i == kWarm) {
      result.warm = session.stats();
      session.reset_peaks();
      mark = Clock::now();
    } else if (i == kWarm + kSpan) {
      result.early = session.stats();
      result.early_seconds = Clock::now() - mark;
    } else if (i == kSteps - kSpan) {
      result.late = session.stats();
      mark = Clock::now();
    }
  }
  result.last = session.stats();
  result.late_seconds = Clock::now() - mark;
  result.state = take_state(*training, test_device(), through(session));
  return result;
}

State run_plain(const OptimizerRow& row) {
  const std::unique_ptr<Training> training = make_tiny(row, test_device());
  for (int i = 0; i < kSteps; ++i) training->step(i);
  return take_state(*training, test_device(), {});
}

// Time itself is only told: machines have moods. What takes it, ops and what is done for them, is
// counted and compared.
void tell_times(const LongRun& run) {
  std::printf("the last %d steps took %.2f times as long as %d after the first %d\n", kSpan,
              run.late_seconds.count() / run.early_seconds.count(), kSpan, kWarm);
}

void expect_flat(const LongRun& run) {
  EXPECT_EQ(run.last.steps_aside, 0);
  const std::int64_t early_ops = run.early.ops - run.warm.ops;
  // Those of LBFGS depend on how well its steps go.
  EXPECT_LE(std::abs(run.last.ops - run.late.ops - early_ops), early_ops / 100);
  EXPECT_EQ(run.last.records, run.warm.records);
  EXPECT_EQ(run.last.record_held_bytes, run.warm.record_held_bytes);
  EXPECT_LE(run.last.peak_bytes, run.warm.peak_bytes);
  EXPECT_EQ(run.last.held_bytes, run.warm.held_bytes);
}

// Which values go differs from step to step, so the work does too, by far less than a step's.
void expect_as_much_work(const LongRun& run) {
  const auto grew = [&run](std::int64_t SessionStats::*count) {
    const std::int64_t early = run.early.*count - run.warm.*count;
    return run.last.*count - run.late.*count > early + early / 4 + kSpan;
  };
  EXPECT_FALSE(grew(&SessionStats::ops));
  EXPECT_FALSE(grew(&SessionStats::evictions));
  EXPECT_FALSE(grew(&SessionStats::recomputes));
  EXPECT_FALSE(grew(&SessionStats::moves));
}

SessionOptions watching(std::int64_t budget_bytes) {
  SessionOptions options = options_for(budget_bytes);
  options.step_aside = false;
  return options;
}

class AThousandSteps : public testing::TestWithParam<OptimizerRow> {};

TEST_P(AThousandSteps, LeaveNothingBehindInASessionThatWatches) {
  LT_SKIP_IF(why_skip());
  // Without a budget no records would be kept.
  const LongRun watched = run(GetParam(), watching(std::int64_t{1} << 40));
  EXPECT_EQ(first_difference(run_plain(GetParam()), watched.state), std::nullopt);
  expect_flat(watched);
  tell_times(watched);
}

// What is held at the end of a step depends on what was evicted, so only the records are compared.
TEST_P(AThousandSteps, LeaveNothingBehindInsideABudget) {
  LT_SKIP_IF(why_skip());
  const std::int64_t fixed = fixed_bytes();
  const LongRun watched = run(GetParam(), watching(0));
  std::int64_t budget = fixed + (watched.last.peak_bytes - fixed) * 7 / 10;
  for (int attempt = 0; attempt < 5; ++attempt) {
    try {
      const LongRun done = run(GetParam(), watching(budget));
      EXPECT_EQ(first_difference(watched.state, done.state), std::nullopt);
      EXPECT_LE(done.last.peak_bytes, budget);
      EXPECT_LT(budget, watched.last.peak_bytes);
      EXPECT_GT(done.last.evictions - done.late.evictions, 0);
      expect_as_much_work(done);
      tell_times(done);
      EXPECT_LE(done.last.records, 2 * done.warm.records);
      EXPECT_LE(done.last.record_held_bytes, 2 * done.warm.record_held_bytes + (64 << 10));
      return;
    } catch (const OutOfMemory& refusal) {
      budget = std::max(smallest_budget(refusal), budget + (budget - fixed) / 10);
    }
  }
  FAIL() << "no budget that a refusal named was enough";
}

INSTANTIATE_TEST_SUITE_P(Optimizers, AThousandSteps, testing::ValuesIn(optimizers()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace lowtide::torch_test
