// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/large_blocks.h"

#include <random>
#include <vector>

#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "lowtide/errors.h"
#include "run/cuda/gpu_test.h"

namespace lowtide::cuda {
namespace {

class LargeBlocksTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (!DevicePages::work_on(0)) GTEST_SKIP() << "this GPU has no virtual memory";
    start(reserved_bytes() + 512 * kMiB);
  }
  void TearDown() override {
    if (!IsSkipped()) device().limit(std::nullopt);
    GpuTest::TearDown();
  }
  void start(std::int64_t budget) {
    budget_ = budget;
    device().limit(budget);
    ledger().set_budget(budget);
  }
  std::int64_t flushes() { return gate().getDeviceStats(0).num_alloc_retries; }

  std::int64_t budget_ = 0;
};

TEST_F(LargeBlocksTest, TensorsKeepTheirContentsWhereverTheirPagesAre) {
  start(reserved_bytes() + 2048 * kMiB);
  std::mt19937 random(7);
  struct Filled {
    at::Tensor tensor;
    int number;
  };
  std::vector<Filled> tensors;
  const std::int64_t flushes_before = flushes();
  int made = 0;
  for (int i = 0; i < 3000; ++i) {
    if (!tensors.empty() && random() % 2 == 0) {
      const std::size_t which = random() % tensors.size();
      if (i % 10 == 0) {
        ASSERT_TRUE(tensors[which].tensor.eq(tensors[which].number).all().item<bool>());
      }
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const auto mebibytes = static_cast<std::int64_t>(2 + random() % 200);
    // Room for what the comparisons take, and for pages that are broken.
    if (ledger().held_bytes() + (mebibytes + 512) * kMiB > budget_) continue;
    tensors.push_back({empty_ints(mebibytes * kMiB / 4 - 7).fill_(i), i});
    ++made;
    ASSERT_LE(reserved_bytes(), budget_);
    ASSERT_EQ(ledger().held_bytes(), allocated_bytes());
  }
  for (const Filled& filled : tensors) {
    ASSERT_TRUE(filled.tensor.eq(filled.number).all().item<bool>());
  }
  EXPECT_GT(made, 500);
  EXPECT_EQ(flushes(), flushes_before);
}

TEST_F(LargeBlocksTest, AreFilledWithoutAnEmptyCacheWhereNativeWouldNeedOne) {
  // Every other one is freed, so that no two free pages are neighbours, and the budget does not
  // allow as many again.
  std::vector<at::Tensor> kept;
  {
    std::vector<at::Tensor> freed;
    for (int i = 0; i < 12; ++i) {
      kept.push_back(empty_bytes(16 * kMiB).fill_(1));
      freed.push_back(empty_bytes(16 * kMiB));
    }
  }
  const std::int64_t flushes_before = flushes();
  std::vector<at::Tensor> large;
  for (int i = 0; i < 3; ++i) large.push_back(empty_bytes(60 * kMiB).fill_(2));
  for (const at::Tensor& tensor : large) EXPECT_TRUE(tensor.eq(2).all().item<bool>());
  for (const at::Tensor& tensor : kept) EXPECT_TRUE(tensor.eq(1).all().item<bool>());
  EXPECT_EQ(flushes(), flushes_before);
  EXPECT_LE(reserved_bytes(), budget_);
}

TEST_F(LargeBlocksTest, RecordStreamKeepsPagesUntilTheOtherStreamIsDone) {
  constexpr std::int64_t kCount = 4 << 20;
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  at::Tensor source = empty_ints(kCount).fill_(7);
  const void* data = source.data_ptr();
  c10::cuda::device_synchronize();
  at::Tensor copy;
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    copy = empty_ints(kCount);
    at::cuda::sleep(50'000'000);
    copy.copy_(source);
  }
  source.record_stream(side.unwrap());
  source.reset();
  const at::Tensor next = empty_ints(kCount).fill_(9);
  EXPECT_EQ(next.data_ptr(), data);
  c10::cuda::device_synchronize();
  EXPECT_TRUE(copy.eq(7).all().item<bool>());
}

TEST_F(LargeBlocksTest, SmallBlocksGetWhatThePagesCanSpare) {
  // Almost all of the budget becomes pages, most of them free again.
  { const at::Tensor all = empty_bytes(440 * kMiB); }
  std::vector<at::Tensor> small;
  for (int i = 0; i < 300; ++i) small.push_back(empty_bytes(kMiB).fill_(3));
  EXPECT_LE(reserved_bytes(), budget_);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  for (const at::Tensor& tensor : small) EXPECT_TRUE(tensor.eq(3).all().item<bool>());
  small.clear();
  // And the other way round.
  EXPECT_NO_THROW(empty_bytes(440 * kMiB));
}

TEST_F(LargeBlocksTest, ASmallBudgetAfterALargeOneHasPagesOfItsOwnSize) {
  // Pages of the large budget would leave the small one too few: each block would waste most of
  // one.
  start(reserved_bytes() + 64LL * 1024 * kMiB);
  at::Tensor old = empty_bytes(24 * kMiB).fill_(1);
  std::vector<at::Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(empty_bytes(24 * kMiB));
  others.clear();
  start(allocated_bytes() + 256 * kMiB);
  std::vector<at::Tensor> blocks;
  for (int i = 0; i < 60; ++i) blocks.push_back(empty_bytes(2 * kMiB).fill_(2));
  EXPECT_LE(reserved_bytes(), budget_);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  EXPECT_TRUE(old.eq(1).all().item<bool>());
  // What the old pages held becomes room again.
  old.reset();
  blocks.clear();
  EXPECT_NO_THROW(empty_bytes(budget_ - allocated_bytes() - 64 * kMiB));
  EXPECT_LE(reserved_bytes(), budget_);
}

TEST_F(LargeBlocksTest, GapsBetweenOlderBlocksAreUsedBeforeABlockIsRefused) {
  device().limit(std::nullopt);
  ledger().set_budget(engine::Ledger::kNoBudget);
  std::vector<at::Tensor> kept;
  {
    std::vector<at::Tensor> freed;
    for (int i = 0; i < 9; ++i) {
      kept.push_back(empty_bytes(6 * kMiB).fill_(1));
      freed.push_back(empty_bytes(6 * kMiB));
    }
  }
  start(reserved_bytes());
  std::vector<at::Tensor> later;
  for (int i = 0; i < 4; ++i) later.push_back(empty_bytes(5 * kMiB).fill_(2));
  EXPECT_LE(reserved_bytes(), budget_);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  start(reserved_bytes() + 64 * kMiB);
  for (const at::Tensor& tensor : kept) EXPECT_TRUE(tensor.eq(1).all().item<bool>());
  for (const at::Tensor& tensor : later) EXPECT_TRUE(tensor.eq(2).all().item<bool>());
  later.clear();
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(LargeBlocksTest, BlocksOutliveTheBudget) {
  at::Tensor kept = empty_bytes(64 * kMiB).fill_(5);
  at::Tensor other = empty_bytes(64 * kMiB);
  device().limit(std::nullopt);
  ledger().set_budget(engine::Ledger::kNoBudget);
  device().remove();
  EXPECT_TRUE(kept.eq(5).all().item<bool>());
  other.reset();
  kept.reset();
  EXPECT_EQ(gate().getDeviceStats(0).reserved_bytes[0].current,
            gate().native_allocator().getDeviceStats(0).reserved_bytes[0].current);
  device().install();
  start(reserved_bytes() + 256 * kMiB);
  EXPECT_TRUE(empty_bytes(128 * kMiB).fill_(6).eq(6).all().item<bool>());
}

TEST_F(LargeBlocksTest, CannotBeSharedWithOtherProcesses) {
  const at::Tensor large = empty_bytes(8 * kMiB);
  EXPECT_THROW(gate().shareIpcHandle(large.data_ptr()), InvalidInput);
}

TEST_F(LargeBlocksTest, ARefusalNamesTheSizes) {
  const at::Tensor held = empty_bytes(400 * kMiB);
  try {
    const at::Tensor more = empty_bytes(200 * kMiB);
    FAIL() << "there is no room for that";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("200.0 MiB"), std::string::npos) << error.what();
  }
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

}  // namespace
}  // namespace lowtide::cuda
