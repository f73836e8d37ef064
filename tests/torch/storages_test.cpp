// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Ops that give a tensor another storage, or a storage another size: what was computed from what
// was there before is still computed from that.
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

INSTANTIATE_TEST_SUITE_P(Means, OtherStorages,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace lowtide::torch_test
