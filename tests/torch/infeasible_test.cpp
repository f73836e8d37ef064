// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Budgets that cannot be kept: a clear refusal, and nothing broken by it.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/bytes.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = 1 << 20;

std::optional<OutOfMemory> refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const OutOfMemory& refusal) {
    return refusal;
  }
  return std::nullopt;
}

// Two matrices of a MiB fit into 2.5 MiB one after the other and both at once; their product needs
// three.
TEST(OpThatDoesNotFit, IsRefusedByNameWithTheSizesThatMatter) {
  LT_SKIP_IF(why_skip());
  const std::int64_t fixed = fixed_bytes();
  Session session(options_for(fixed + kMiB * 5 / 2));
  const at::Tensor a = at::ones({512, 512}, test_device());
  const at::Tensor b = at::full({512, 512}, 2.0, test_device());
  const auto refusal = refusal_of([&] { session.step([&] { a.mm(b); }); });
  ASSERT_TRUE(refusal.has_value());
  const std::string message = refusal->what();
  EXPECT_THAT(message, HasSubstr("aten::mm"));
  EXPECT_THAT(message, HasSubstr("1.00 MiB"));  // asked for, and the size of each holder
  EXPECT_THAT(message, HasSubstr(base::format_bytes(fixed + kMiB * 5 / 2)));  // the budget
  EXPECT_THAT(message, HasSubstr("held"));
  EXPECT_GE(smallest_budget(*refusal), fixed + 3 * kMiB);
  EXPECT_LE(smallest_budget(*refusal), fixed + 4 * kMiB);
}

TEST(OpThatDoesNotFit, FitsIntoTheBudgetThatTheRefusalNames) {
  LT_SKIP_IF(why_skip());
  const auto multiply = [](std::int64_t budget) {
    Session session(options_for(budget));
    const at::Tensor a = at::ones({512, 512}, test_device());
    const at::Tensor b = at::full({512, 512}, 2.0, test_device());
    at::Tensor c;
    session.step([&] { c = a.mm(b); });
    EXPECT_EQ(c.sum().item<float>(), 512.0F * 512.0F * 1024.0F);
    EXPECT_LE(session.stats().peak_bytes, budget);
  };
  const auto refusal = refusal_of([&] { multiply(fixed_bytes() + kMiB * 5 / 2); });
  ASSERT_TRUE(refusal.has_value());
  EXPECT_FALSE(refusal_of([&] { multiply(smallest_budget(*refusal)); }).has_value());
}

// What was dropped and is computed from `source` must be there before that is overwritten, and does
// not fit.
TEST(OpThatDoesNotFit, LeavesWhatItWouldHaveOverwrittenToThoseComputedFromIt) {
  LT_SKIP_IF(why_skip());
  at::Tensor source = at::ones({512, 512}, test_device());
  std::vector<at::Tensor> products;
  {
    SessionOptions options = options_for(fixed_bytes() + 4 * kMiB);
    options.means = Means::kRecompute;
    Session session(options);
    for (int i = 0; i < 8; ++i) products.push_back(source * i);
    EXPECT_THROW(source.add_(1), OutOfMemory);
  }
  EXPECT_EQ(source.sum().item<float>(), 262144.0F);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(products[static_cast<std::size_t>(i)].sum().item<float>(),
              262144.0F * static_cast<float>(i));
  }
}

TEST(OpThatDoesNotFit, LeavesItsArgumentsAndTheSessionUsable) {
  LT_SKIP_IF(why_skip());
  at::Tensor a;
  at::Tensor b;
  {
    Session session(options_for(fixed_bytes() + kMiB * 5 / 2));
    a = at::ones({512, 512}, test_device());
    b = at::full({512, 512}, 2.0, test_device());
    for (int i = 0; i < 3; ++i) {
      EXPECT_THROW(session.step([&] { a.mm(b); }), OutOfMemory);
      session.step(
          [&] { EXPECT_EQ((a + i).sum().item<float>(), 262144.0F * static_cast<float>(1 + i)); });
      EXPECT_EQ(b.sum().item<float>(), 524288.0F);
    }
    EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  }
  EXPECT_EQ(a.mm(b).sum(at::kDouble).item<double>(), 512.0 * 512.0 * 1024.0);
}

// A step that asks for too much in forward, taken again with less: as if it had not been tried.
TEST(StepThatDoesNotFit, CanBeTakenAgainWithLess) {
  LT_SKIP_IF(why_skip());
  const auto is_greedy = std::make_shared<bool>(false);
  const Program greedy{
      "greedy", [=](at::Device device, std::uint64_t seed) {
        auto model = make_model<LinearStack>(device, seed, LinearStackShape{128, 128, 128, 12});
        const at::Tensor x = Data(device, seed).normal({256, 128});
        return train(model, make_adam(*model), [=](int) {
          at::Tensor y = model->forward(x);
          if (*is_greedy) y = y * at::ones({1024, 256, 128}, device).mean(0);
          return at::mse_loss(y, x);
        });
      }};
  const Reference& wanted = reference(greedy, 4);
  Session session(options_for(wanted.budget(80)));
  const auto training = greedy.make(test_device(), kSeed);
  for (int i = 0; i < 4; ++i) {
    *is_greedy = true;
    EXPECT_THROW(session.step([&] { training->step(i); }), OutOfMemory);
    *is_greedy = false;
    session.step([&] { training->step(i); });
    EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)],
                               take_state(*training, test_device(), through(session))),
              std::nullopt)
        << "step " << i;
  }
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

// The model alone is larger than the budget, and nothing may be moved.
TEST(ModelThatDoesNotFit, IsRefusedWithABudgetThatIsEnough) {
  LT_SKIP_IF(why_skip());
  const Program& large = program("dense_mostly_state");
  const Reference& wanted = reference(large, 3);
  const auto done =
      run_feasibly(large, options_for(0, Means::kRecompute), wanted.budget(30), wanted);
  ASSERT_TRUE(done.has_value());
  EXPECT_GT(done->refusals, 0);
  EXPECT_EQ(done->run.difference, std::nullopt);
  EXPECT_LE(done->run.stats.peak_bytes, done->budget_bytes);
}

}  // namespace
}  // namespace lowtide::torch_test
