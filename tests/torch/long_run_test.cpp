// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A thousand steps under each optimizer: what the runtime remembers must not grow, or else states
// that are never made anew chain back to the first step.
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

// Small enough for a thousand steps in seconds, with storages above a floor of 4 KiB.
std::unique_ptr<Training> make_tiny(const OptimizerRow& row, at::Device device) {
  auto model = make_model<LinearStack>(device, kSeed, LinearStackShape{32, 32, 4, 3});
  const at::Tensor inputs = Data(device, kSeed).normal({4, 64, 32});
  const at::Tensor wanted = Data(device, kSeed + 1).normal({64, 4});
  return train(model, row.make(model->parameters()), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

struct LongRun {
  State state;
  SessionStats warm;
  SessionStats last;
};

LongRun run(const OptimizerRow& row, SessionOptions options) {
  options.floor_bytes = 4 << 10;
  Session session(options);
  const std::unique_ptr<Training> training = make_tiny(row, test_device());
  LongRun result;
  for (int i = 0; i < kSteps; ++i) {
    session.step([&] { training->step(i); });
    if (i + 1 == kWarm) {
      result.warm = session.stats();
      session.reset_peaks();
    }
  }
  result.last = session.stats();
  result.state = take_state(*training, test_device(), through(session));
  return result;
}

State run_plain(const OptimizerRow& row) {
  const std::unique_ptr<Training> training = make_tiny(row, test_device());
  for (int i = 0; i < kSteps; ++i) training->step(i);
  return take_state(*training, test_device(), {});
}

void expect_flat(const LongRun& run) {
  EXPECT_EQ(run.last.records, run.warm.records);
  EXPECT_EQ(run.last.record_held_bytes, run.warm.record_held_bytes);
  EXPECT_LE(run.last.peak_bytes, run.warm.peak_bytes);
  EXPECT_EQ(run.last.held_bytes, run.warm.held_bytes);
}

class AThousandSteps : public testing::TestWithParam<OptimizerRow> {};

TEST_P(AThousandSteps, LeaveNothingBehindInASessionThatWatches) {
  LT_SKIP_IF(why_skip());
  const LongRun watched = run(GetParam(), options_for(0));
  EXPECT_EQ(first_difference(run_plain(GetParam()), watched.state), std::nullopt);
  expect_flat(watched);
}

// What is held at the end of a step depends on what was evicted, so only the records are compared.
TEST_P(AThousandSteps, LeaveNothingBehindInsideABudget) {
  LT_SKIP_IF(why_skip());
  const LongRun watched = run(GetParam(), options_for(0));
  std::int64_t budget = watched.last.peak_bytes * 7 / 10;
  for (int attempt = 0; attempt < 5; ++attempt) {
    try {
      const LongRun done = run(GetParam(), options_for(budget));
      EXPECT_EQ(first_difference(watched.state, done.state), std::nullopt);
      EXPECT_LE(done.last.peak_bytes, budget);
      EXPECT_LE(done.last.records, 2 * done.warm.records);
      EXPECT_LE(done.last.record_held_bytes, 2 * done.warm.record_held_bytes + (64 << 10));
      return;
    } catch (const OutOfMemory& refusal) {
      budget = std::max(smallest_budget(refusal), budget + budget / 10);
    }
  }
  FAIL() << "no budget that a refusal named was enough";
}

INSTANTIATE_TEST_SUITE_P(Optimizers, AThousandSteps, testing::ValuesIn(optimizers()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace lowtide::torch_test
