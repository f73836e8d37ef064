// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Ops that give a tensor another storage, or a storage another size: what was computed from what
// was there before is still computed from that.
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

SessionOptions evicting_all(Means means) {
  SessionOptions options = options_for(0, means);
  options.evict_everything = true;
  return options;
}

class OtherStorages : public testing::TestWithParam<Means> {
 protected:
  void SetUp() override {
    LT_SKIP_IF(why_skip());
    x = Data(test_device(), kSeed).normal({256, 256});
    doubled = x * 2;
  }

  // There before the session, so that nobody can compute it again.
  at::Tensor x;
  at::Tensor doubled;
};

TEST_P(OtherStorages, AreTakenFromATensorThatOthersWereComputedFrom) {
  const Session session(evicting_all(GetParam()));
  const at::Tensor y = x * 2;
  at::Tensor same = at::empty({0}, x.options());
  same.set_(x);
  EXPECT_TRUE(at::equal(y, doubled));
  EXPECT_TRUE(at::equal(same * 2, doubled));
}

TEST_P(OtherStorages, HaveTheSizeOfATensorThatOthersWereComputedFrom) {
  const Session session(evicting_all(GetParam()));
  const at::Tensor y = x * 2;
  at::Tensor other = at::zeros({16, 16}, x.options());
  other.resize_as_(x);
  EXPECT_TRUE(at::equal(y, doubled));
  EXPECT_EQ(other.numel(), x.numel());
}

TEST_P(OtherStorages, MayBeAwayWhenTheyAreNamed) {
  const Session session(evicting_all(GetParam()));
  const at::Tensor y = x * 2;
  at::Tensor same = at::empty({0}, x.options());
  same.set_(y.storage(), 0, y.sizes(), y.strides());
  same.mul_(3);
  EXPECT_TRUE(at::equal(y, doubled * 3));
}

// Torch makes it smaller, with a warning, and leaves its storage.
TEST_P(OtherStorages, KeepWhatAnOpThatTakesOutLeavesOfThem) {
  const Session session(evicting_all(GetParam()));
  at::Tensor out = x * 2;
  const at::Tensor rest = out.narrow(0, 200, 50);
  at::add_out(out, x.narrow(0, 0, 100), x.narrow(0, 100, 100));
  EXPECT_TRUE(at::equal(rest, doubled.narrow(0, 200, 50)));
  EXPECT_TRUE(at::equal(out, x.narrow(0, 0, 100) + x.narrow(0, 100, 100)));
}

// The copy is made when one of the two is written, and memory is short at that moment.
TEST_P(OtherStorages, AreSharedByLazyCopiesUntilTheyAreWritten) {
  constexpr std::int64_t kMiB = 1 << 20;
  Session session(options_for(fixed_bytes() + 7 * kMiB / 2, GetParam()));
  const at::Tensor ones = at::ones({kMiB / 4}, x.options());
  const at::Tensor first = ones * 2;
  at::Tensor copy = at::_lazy_clone(first);
  // What was used last goes last.
  const at::Tensor second = ones * 3;
  copy.add_(1);
  EXPECT_EQ(copy.sum().item<float>(), 3 * kMiB / 4);
  copy.reset();
  EXPECT_EQ(first.sum().item<float>(), 2 * kMiB / 4);
  EXPECT_EQ(second.sum().item<float>(), 3 * kMiB / 4);
  EXPECT_GT(session.stats().evictions, 0);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

// All of a layer in one piece of memory, of which an op reads one part and writes another without
// saying so.
TEST_P(OtherStorages, HoldWeightsBesideRunningStatistics) {
  constexpr std::int64_t kWidth = 4096;
  const at::Tensor pictures = Data(test_device(), kSeed).normal({16, kWidth});
  const auto run = [&] {
    const at::Tensor all = at::ones({4 * kWidth}, pictures.options()).mul_(0.5);
    const std::vector<at::Tensor> part = all.chunk(4);
    const at::Tensor first = at::batch_norm(pictures, part[0], part[1], part[2], part[3],
                                            /*training=*/true, 0.1, 1e-5, false);
    const at::Tensor second = at::batch_norm(first * 2, part[0], part[1], part[2], part[3],
                                             /*training=*/true, 0.1, 1e-5, false);
    return std::vector<at::Tensor>{first * 1, second * 1, all * 1, first + second};
  };
  const std::vector<at::Tensor> wanted = run();
  const Session session(evicting_all(GetParam()));
  const std::vector<at::Tensor> got = run();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(at::equal(got[i], wanted[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Means, OtherStorages,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace lowtide::torch_test
