// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/cuda_gate.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/MemPool.h>
#include <ATen/cuda/Sleep.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "lowtide/errors.h"
#include "run/cuda/gpu_test.h"

namespace lowtide::cuda {
namespace {

// Gives up its tensors, one at a call.
class TensorEvictor : public engine::Evictor {
 public:
  std::int64_t evict(std::int64_t, std::int64_t) override {
    ++calls;
    if (tensors.empty()) return 0;
    const auto bytes = static_cast<std::int64_t>(tensors.back().nbytes());
    tensors.pop_back();
    return bytes;
  }
  bool move_together(engine::MovableBlocks&) override { return false; }
  void on_block_freed(void*, const engine::Block& block) noexcept override {
    freed_owners.push_back(block.owner);
  }
  std::string describe_shortage(std::int64_t) override { return " Told by the evictor."; }

  int calls = 0;
  std::vector<at::Tensor> tensors;
  std::vector<void*> freed_owners;
};

class CudaGateTest : public GpuTest {
 protected:
  // Random allocations and frees on several streams; calls `check` after each.
  template <class Check>
  void churn(int steps, unsigned seed, Check check) {
    std::mt19937 random(seed);
    std::vector<c10::cuda::CUDAStream> streams = {c10::cuda::getDefaultCUDAStream()};
    for (int i = 0; i < 3; ++i) streams.push_back(c10::cuda::getStreamFromPool());
    std::vector<at::Tensor> tensors;
    for (int i = 0; i < steps; ++i) {
      const c10::cuda::CUDAStreamGuard guard(streams[random() % streams.size()]);
      if (tensors.size() < 8 || random() % 2 == 0) {
        const int bits = static_cast<int>(random() % 25);
        tensors.push_back(empty_bytes(1 + static_cast<std::int64_t>(random() % (1U << bits))));
      } else {
        std::swap(tensors[random() % tensors.size()], tensors.back());
        tensors.pop_back();
      }
      check();
    }
  }
};

TEST(CudaGateRounding, IsNatives) {
  EXPECT_EQ(CudaGate::rounded_by_native(1), 512);
  EXPECT_EQ(CudaGate::rounded_by_native(512), 512);
  EXPECT_EQ(CudaGate::rounded_by_native(513), 1024);
  EXPECT_EQ(CudaGate::rounded_by_native(1200), 1536);
}

TEST(CudaGateRounding, FollowsTheUsersDivisions) {
  // As in torch's manual: between 1024 and 2048, four steps.
  const std::string before = c10::CachingAllocator::getAllocatorSettings();
  c10::CachingAllocator::setAllocatorSettings("roundup_power2_divisions:4");
  EXPECT_EQ(CudaGate::rounded_by_native(1200), 1536);
  EXPECT_EQ(CudaGate::rounded_by_native(4096), 4096);
  EXPECT_EQ(CudaGate::rounded_by_native(4097), 5120);
  EXPECT_EQ(CudaGate::rounded_by_native(static_cast<std::size_t>(30 * kMiB)), 32 * kMiB);
  c10::CachingAllocator::setAllocatorSettings(before);
}

TEST_F(CudaGateTest, IsWhatTorchAsks) {
  EXPECT_EQ(caching::get(), &gate());
  EXPECT_EQ(c10::GetAllocator(c10::kCUDA), static_cast<c10::Allocator*>(&gate()));
  EXPECT_EQ(caching::name(), "native");
  const at::Tensor tensor = empty_bytes(100);
  EXPECT_TRUE(device().is_gate_deleter(tensor.storage().data_ptr().get_deleter()));
  EXPECT_EQ(ledger().find_block(tensor.data_ptr())->bytes, 512);
}

TEST_F(CudaGateTest, CountsWhatNativeCountsWithExpandableSegments) {
  device().limit(std::int64_t{16} << 30);
  churn(2000, 1, [&] { ASSERT_EQ(ledger().held_bytes(), allocated_bytes()); });
}

TEST_F(CudaGateTest, CountsWhatNativeCountsAfterResyncWithoutThem) {
  use_device({.expandable_segments = false});
  device().limit(std::int64_t{16} << 30);
  churn(1000, 2, [&] {
    // Native may hand out up to a mebibyte more than was asked for, which the ledger learns late.
    gate().resync(0);
    ASSERT_EQ(ledger().held_bytes(), allocated_bytes());
  });
}

TEST_F(CudaGateTest, CountsWhatThreadsDoAtOnce) {
  device().limit(std::int64_t{64} << 30);
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([this, seed] { churn(1500, seed, [this] { gate().resync(0); }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(CudaGateTest, RawAllocationsAreCounted) {
  const std::int64_t before = ledger().held_bytes();
  void* first = caching::raw_alloc(1000);
  void* second = caching::raw_alloc_with_stream(3 * 512, c10::cuda::getStreamFromPool());
  EXPECT_EQ(ledger().held_bytes(), before + 1024 + 3 * 512);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  caching::raw_delete(first);
  caching::raw_delete(second);
  EXPECT_EQ(ledger().held_bytes(), before);
  caching::raw_delete(gate().native_allocator().raw_alloc(5000));
  EXPECT_EQ(allocated_bytes(), before);
}

TEST_F(CudaGateTest, RefusesWhatPassesTheCapWithTheSizes) {
  ledger().set_budget(ledger().held_bytes() + 10 * kMiB);
  const at::Tensor first = empty_bytes(6 * kMiB);
  const std::int64_t held = ledger().held_bytes();
  EXPECT_THROW(empty_bytes(5 * kMiB), OutOfMemory);
  try {
    empty_bytes(5 * kMiB);
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes, 5 * kMiB);
    EXPECT_EQ(error.held_bytes, held);
  }
  EXPECT_EQ(ledger().held_bytes(), held);
  EXPECT_NO_THROW(empty_bytes(4 * kMiB));
  EXPECT_NO_THROW(empty_bytes(0));
}

TEST_F(CudaGateTest, EvictsUntilTheRequestFits) {
  TensorEvictor evictor;
  ledger().set_budget(ledger().held_bytes() + 10 * kMiB);
  for (int i = 0; i < 5; ++i) evictor.tensors.push_back(empty_bytes(2 * kMiB));
  int owner = 0;
  ledger().set_owner(evictor.tensors.back().data_ptr(), &owner);
  ledger().set_evictor(&evictor);
  const at::Tensor large = empty_bytes(5 * kMiB);
  EXPECT_EQ(evictor.tensors.size(), 2U);
  EXPECT_EQ(evictor.freed_owners, std::vector<void*>{&owner});
  EXPECT_THROW(empty_bytes(6 * kMiB), OutOfMemory);
  EXPECT_TRUE(evictor.tensors.empty());
}

TEST_F(CudaGateTest, AnswersNativesOutOfMemoryByEvicting) {
  use_device({.own_pages = false});
  TensorEvictor evictor;
  // The native limit is the tighter one here, as it is with fragments.
  device().limit(reserved_bytes() + 120 * kMiB);
  for (int i = 0; i < 3; ++i) evictor.tensors.push_back(empty_bytes(30 * kMiB));
  ledger().set_evictor(&evictor);
  const at::Tensor large = empty_bytes(60 * kMiB);
  EXPECT_GE(evictor.calls, 2);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  EXPECT_THROW(empty_bytes(90 * kMiB), OutOfMemory);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(CudaGateTest, NoticesThatBlocksOfBeforeItWereFreed) {
  device().remove();
  at::Tensor early = empty_bytes(8 * kMiB);
  EXPECT_TRUE(device().is_native_deleter(early.storage().data_ptr().get_deleter()));
  device().install();
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  ledger().set_budget(ledger().held_bytes() + kMiB);
  EXPECT_THROW(empty_bytes(4 * kMiB), OutOfMemory);
  early.reset();
  EXPECT_NO_THROW(empty_bytes(4 * kMiB));
}

TEST_F(CudaGateTest, TakesAdoptedBlocks) {
  device().remove();
  at::Tensor early = empty_bytes(8 * kMiB);
  device().install();
  void* data = early.data_ptr();
  ledger().adopt_block(data, device().rounded(8 * kMiB), device().counts_earlier_blocks());
  ASSERT_TRUE(early.storage().unsafeGetStorageImpl()->mutable_data_ptr().compare_exchange_deleter(
      gate().native_deleter(), device().gate_deleter()));
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  early.reset();
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(CudaGateTest, CanBeRemovedAndInstalledAgain) {
  at::Tensor kept = empty_bytes(3 * kMiB);
  at::Tensor grown = empty_bytes(kMiB);
  device().remove();
  EXPECT_EQ(caching::get(), &gate().native_allocator());
  EXPECT_EQ(c10::GetAllocator(c10::kCUDA), static_cast<c10::Allocator*>(caching::get()));
  // Its storage still has the gate for an allocator.
  grown.resize_({4 * kMiB});
  at::Tensor between = empty_bytes(2 * kMiB);
  kept.reset();
  device().install();
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  between.reset();
  grown.reset();
  gate().resync(0);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(CudaGateTest, RecordStreamKeepsABlockUntilTheOtherStreamIsDone) {
  constexpr std::int64_t kCount = 4 << 20;
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  at::Tensor source = empty_ints(kCount).fill_(7);
  at::Tensor own = empty_ints(kCount);
  c10::cuda::device_synchronize();
  at::Tensor copy;
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    at::cuda::sleep(50'000'000);
    copy = source.clone();
  }
  source.record_stream(side.unwrap());
  own.record_stream(c10::cuda::getDefaultCUDAStream().unwrap());
  EXPECT_TRUE(ledger().find_block(source.data_ptr())->shared_between_streams);
  EXPECT_FALSE(ledger().find_block(own.data_ptr())->shared_between_streams);
  source.reset();
  const at::Tensor next = empty_ints(kCount).fill_(9);
  c10::cuda::device_synchronize();
  EXPECT_TRUE(copy.eq(7).all().item<bool>());
}

TEST_F(CudaGateTest, AllocationsToAPoolObeyTheCapAndEvictNothing) {
  TensorEvictor evictor;
  at::cuda::MemPool pool;
  at::Tensor inside;
  ledger().set_budget(ledger().held_bytes() + 10 * kMiB);
  ledger().set_evictor(&evictor);
  caching::beginAllocateToPool(0, pool.id(), [](cudaStream_t) { return true; });
  inside = empty_bytes(6 * kMiB);
  EXPECT_THROW(empty_bytes(6 * kMiB), OutOfMemory);
  caching::endAllocateToPool(0, pool.id());
  EXPECT_EQ(evictor.calls, 0);
  EXPECT_TRUE(ledger().find_block(inside.data_ptr())->shared_between_streams);
  EXPECT_EQ(pool.use_count(), 2);
  caching::releasePool(0, pool.id());
  EXPECT_EQ(pool.use_count(), 1);
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  inside.reset();
  EXPECT_THROW(empty_bytes(12 * kMiB), OutOfMemory);
  EXPECT_GT(evictor.calls, 0);
}

TEST_F(CudaGateTest, GraphsAreCapturedAndReplayed) {
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStreamGuard guard(side);
  at::Tensor input = empty_ints(1 << 20).fill_(1);
  at::Tensor warm = input * 3 + 4;
  c10::cuda::device_synchronize();
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  device().tick(8);
  at::Tensor output = input * 3 + 4;
  graph.capture_end();
  EXPECT_TRUE(ledger().find_block(output.data_ptr())->shared_between_streams);
  input.fill_(5);
  graph.replay();
  c10::cuda::device_synchronize();
  EXPECT_TRUE(output.eq(19).all().item<bool>());
  EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
}

TEST_F(CudaGateTest, PoisonFillsWhatIsFreed) {
  use_device({.poison = true});
  at::Tensor tensor = empty_ints(1 << 20).fill_(3);
  void* data = tensor.data_ptr();
  tensor.reset();
  const at::Tensor next = empty_ints(1 << 20);
  ASSERT_EQ(next.data_ptr(), data);
  EXPECT_TRUE(next.eq(-1).all().item<bool>());
}

TEST_F(CudaGateTest, CostOfEmptyAndFree) {
  const auto measure = [] {
    constexpr int kTimes = 100'000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) empty_bytes(4000);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    return spent.count() / kTimes;
  };
  measure();
  for (int round = 0; round < 3; ++round) {
    device().remove();
    const double native = measure();
    device().install();
    std::printf("empty and free: native %.0f ns, gate %.0f ns\n", native, measure());
    EXPECT_EQ(ledger().held_bytes(), allocated_bytes());
  }
}

}  // namespace
}  // namespace lowtide::cuda
