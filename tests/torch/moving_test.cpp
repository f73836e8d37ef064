// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A value that was just computed again, and is moved to the host before the device got so far.
#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "torch/compare.h"
#include "torch/device.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kSide = 1024;
constexpr std::int64_t kBytes = kSide * kSide * 4;

at::Tensor square(double value) { return at::full({kSide, kSide}, value, test_device()); }

// So much that a GPU is still at it when the host has gone on.
void queue_work(const at::Tensor& matrix) {
  at::Tensor product = matrix;
  for (int i = 0; i < 20; ++i) product = at::mm(product, matrix);
}

TEST(RecomputedValue, CanBeMovedBeforeTheDeviceHasComputedIt) {
  LT_SKIP_IF(why_skip());
  const std::int64_t fixed = fixed_bytes();
  for (int round = 0; round < 5; ++round) {
    Session session(options_for(fixed + 5 * kBytes + kBytes / 2));
    at::Tensor source = square(1.0 / 1024);
    const at::Tensor product = at::mm(source, source) + 1;
    const at::Tensor work = square(1.0 / 1024);
    session.hold(work);
    // Product goes, and comes back because its source is about to change; there is room for it only
    // until the next one asks.
    const at::Tensor filler = square(2);
    queue_work(work);
    source.add_(1);
    queue_work(work);
    const at::Tensor other = square(3) + square(4);
    EXPECT_EQ(product.sum(at::kDouble).item<double>(),
              static_cast<double>(kSide * kSide) * (1.0 + 1.0 / 1024));
    EXPECT_EQ(filler.sum(at::kDouble).item<double>(), 2.0 * kSide * kSide);
    EXPECT_EQ(other.sum(at::kDouble).item<double>(), 7.0 * kSide * kSide);
    EXPECT_GT(session.stats().evictions, 0);
    EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  }
}

}  // namespace
}  // namespace lowtide::torch_test
