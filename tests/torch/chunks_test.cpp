// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Optimizers on lists of tensors where the lists of one op do not fit together: the op is carried
// out part by part, and parameters, gradients and states are away between their turns.
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 4;

// Nearly all of its memory is parameters, gradients and states: eight weights of 256 KiB each, or
// of 4 MiB on a GPU, where they have to be large beside what libraries hold.
Program lists_of(const OptimizerRow& row) {
  return {
      "lists_" + row.name, [&row](at::Device device, std::uint64_t seed) {
        const int width = device.is_cpu() ? 256 : 1024;
        auto model = make_model<LinearStack>(device, seed, LinearStackShape{width, width, 16, 8});
        const at::Tensor inputs = Data(device, seed).normal({4, 16, width});
        const at::Tensor wanted = Data(device, seed + 1).normal({16, 16});
        return train(model, row.make(model->parameters()), [=](int i) {
          return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
        });
      }};
}

std::vector<OptimizerRow> on_lists() {
  std::vector<OptimizerRow> rows;
  for (const OptimizerRow& row : optimizers()) {
    if (row.name.starts_with("foreach_") || row.name.starts_with("fused_")) rows.push_back(row);
  }
  return rows;
}

class ListsThatDoNotFit : public testing::TestWithParam<OptimizerRow> {};

TEST_P(ListsThatDoNotFit, AreWorkedOnInParts) {
  LT_SKIP_IF(why_skip());
  const Program program = lists_of(GetParam());
  const Reference& wanted = reference(program, kSteps);
  const std::optional<Feasible> done =
      run_feasibly(program, options_for(0, Means::kHost), wanted.budget(40), wanted);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->run.difference, std::nullopt);
  EXPECT_LE(done->run.stats.peak_bytes, done->budget_bytes);
  EXPECT_LT(done->budget_bytes, wanted.budget(80));
  EXPECT_GE(done->run.stats.chunked_ops, kSteps);
  EXPECT_GT(done->run.stats.bytes_to_host, 0);
}

// What cannot go may leave less than the lists take, small as they are beside the budget.
TEST(ListsThatFitIntoTheBudget, AreWorkedOnInPartsBesideWhatMustStay) {
  LT_SKIP_IF(why_skip());
  constexpr std::int64_t kMiB = 1 << 20;
  constexpr int kTensors = 24;
  Session session(options_for(fixed_bytes() + 32 * kMiB, Means::kHost));
  const at::TensorOptions floats = at::TensorOptions(test_device()).dtype(at::kFloat);
  const at::Tensor held = at::zeros({59 * kMiB / 8}, floats);
  session.hold(held);
  std::vector<at::Tensor> sums;
  std::vector<at::Tensor> terms;
  for (int i = 0; i < kTensors; ++i) {
    sums.push_back(at::full({kMiB / 8}, i, floats).add_(1));
    terms.push_back(at::full({kMiB / 8}, 2 * i, floats).add_(1));
  }
  // 8 and 16 MiB, of which two and a half fit.
  at::_foreach_add_(at::TensorList(sums).slice(0, 8), at::TensorList(terms).slice(0, 8));
  at::_foreach_add_(at::TensorList(sums).slice(8), at::TensorList(terms).slice(8));
  for (int i = 0; i < kTensors; ++i) {
    const at::Tensor& sum = sums[static_cast<std::size_t>(i)];
    EXPECT_EQ(sum.min().item<float>(), static_cast<float>(3 * i + 2));
    EXPECT_EQ(sum.max().item<float>(), static_cast<float>(3 * i + 2));
  }
  EXPECT_GT(session.stats().moves, 0);
  EXPECT_EQ(session.stats().chunked_ops, 2);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  session.release(held);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ListsThatDoNotFit, testing::ValuesIn(on_lists()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace lowtide::torch_test
