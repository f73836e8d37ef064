// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What the program has let go of, and only records of ops keep: it may not fill the memory.
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Each round makes a value that nobody can make again, and lets go of it; three are there at once.
at::Tensor walk(int rounds) {
  torch::manual_seed(kSeed);
  at::Tensor place = Data(test_device(), kSeed).normal({kMiB / 4});
  for (int i = 0; i < rounds; ++i) {
    place = place * 0.9 + at::randn({kMiB / 4}, place.options());
  }
  return place;
}

TEST(SourcesThatAreGone, AreGivenUpWhereTheyFillTheBudget) {
  LT_SKIP_IF(why_skip());
  const at::Tensor wanted = walk(40).cpu();
  for (const Means means : {Means::kRecompute, Means::kHost, Means::kMixed}) {
    SCOPED_TRACE(name_of(means));
    SessionOptions options = options_for(fixed_bytes() + 10 * kMiB, means);
    options.host_cap = "16MiB";
    Session session(options);
    at::Tensor place;
    session.step([&] { place = walk(40); });
    EXPECT_TRUE(at::equal(place.cpu(), wanted));
    EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  }
}

// What is computed from them may be away at that moment; then they stay.
TEST(SourcesThatAreGone, StayWhileSomethingHasToBeComputedFromThem) {
  LT_SKIP_IF(why_skip());
  const auto run = [] {
    torch::manual_seed(kSeed);
    std::vector<at::Tensor> kept;
    for (int i = 0; i < 4; ++i) {
      const at::Tensor noise = at::randn({kMiB / 4}, at::TensorOptions(test_device()));
      kept.push_back(at::cat({noise, noise * 2, noise * 3}));
    }
    std::vector<at::Tensor> sums = {walk(40).sum()};
    for (const at::Tensor& tensor : kept) sums.push_back(tensor.sum());
    return at::stack(sums).cpu();
  };
  const at::Tensor wanted = run();
  Session session(options_for(fixed_bytes() + 12 * kMiB, Means::kRecompute));
  at::Tensor sums;
  session.step([&] { sums = run(); });
  EXPECT_TRUE(at::equal(sums, wanted));
  EXPECT_GE(session.stats().drops, 3);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

// Plain training's peak is taken from such a session.
TEST(SourcesThatAreGone, TakeNoMemoryWhereNothingIsEvicted) {
  LT_SKIP_IF(why_skip());
  const std::int64_t fixed = fixed_bytes();
  SessionOptions options = options_for(0);
  options.step_aside = false;
  Session session(options);
  session.step([] { walk(40); });
  EXPECT_EQ(session.stats().steps_aside, 0);
  EXPECT_LE(session.stats().peak_bytes, fixed + 5 * kMiB);
}

}  // namespace
}  // namespace lowtide::torch_test
