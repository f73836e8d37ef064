// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/cuda/Sleep.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "lowtide/errors.h"
#include "run/cuda/check.h"
#include "run/cuda/gpu_test.h"

namespace lowtide::cuda {
namespace {

TEST(CudaDevice, ThereIsNoneBeyondTheLast) {
  EXPECT_THROW(make_cuda_device(cuda_device_count(), {}), DeviceError);
  EXPECT_THROW(make_cuda_device(-1, {}), DeviceError);
}

TEST(CudaCheck, AFailedCallThrowsItsText) {
  try {
    LT_CUDA(cudaErrorInvalidValue);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cudaErrorInvalidValue"), std::string::npos);
  }
}

class CudaDeviceTest : public GpuTest {
 protected:
  // A tensor that was moved to the host, and what each of its ints should be.
  struct Moved {
    void* host;
    std::int64_t count;
    int mark;
  };

  void next_tick() { device().tick(++op_); }

  at::Tensor make(std::int64_t count, int mark) {
    at::Tensor made = empty_ints(count).fill_(mark);
    next_tick();
    return made;
  }

  void* stream_of(const at::Tensor& tensor) {
    return device().ledger().find_block(tensor.data_ptr())->stream;
  }

  // Moves it and frees its block.
  Moved move_out(at::Tensor tensor, int mark, std::uint64_t last_use) {
    const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
    void* host = device().allocate_host(bytes);
    EXPECT_NE(host, nullptr);
    device().start_copy_out(host, tensor.data_ptr(), bytes, last_use);
    device().finish_copy(tensor.data_ptr(), stream_of(tensor));
    return {host, tensor.numel(), mark};
  }

  at::Tensor move_in(const Moved& moved) {
    at::Tensor tensor = empty_ints(moved.count);
    device().start_copy_in(tensor.data_ptr(), moved.host,
                           static_cast<std::int64_t>(tensor.nbytes()));
    device().finish_copy(tensor.data_ptr(), device().current_stream());
    device().free_host(moved.host);
    next_tick();
    return tensor;
  }

  std::uint64_t op_ = 0;
};

TEST_F(CudaDeviceTest, BringsBackWhatItMovedOut) {
  const Moved moved = move_out(make(1 << 20, 42), 42, op_);
  EXPECT_EQ(device().host_held_bytes(), 4 << 20);
  EXPECT_TRUE(move_in(moved).eq(42).all().item<bool>());
  EXPECT_EQ(device().host_held_bytes(), 0);
  EXPECT_EQ(device().host_peak_bytes(), 4 << 20);
}

TEST_F(CudaDeviceTest, ReusedMemoryIsWrittenAfterTheCopiesThatReadIt) {
  use_device({.poison = true});
  device().set_host_cap(96 * kMiB);
  std::mt19937 random(3);
  std::deque<Moved> moved;
  at::Tensor wrong = at::zeros({1}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  for (int mark = 1; mark <= 1500; ++mark) {
    // The host runs ahead of the device, by different lengths.
    if (random() % 8 == 0) at::cuda::sleep(static_cast<std::int64_t>(random() % 2'000'000));
    const std::int64_t count = (1 + static_cast<std::int64_t>(random() % 16)) << 17;
    at::Tensor tensor = make(count, mark);
    const std::uint64_t last_use = op_;
    for (auto i = random() % 24; i > 0; --i) next_tick();
    moved.push_back(move_out(std::move(tensor), mark, last_use));
    // Most likely the same block.
    make(count, -mark);
    if (moved.size() < 8 || random() % 4 == 0) continue;
    while (moved.size() > 5) {
      const at::Tensor back = move_in(moved.front());
      wrong += back.ne(moved.front().mark).sum();
      moved.pop_front();
    }
  }
  for (const Moved& left : moved) wrong += move_in(left).ne(left.mark).sum();
  EXPECT_EQ(wrong.item<std::int64_t>(), 0);
}

TEST_F(CudaDeviceTest, ABlockOfAnotherStreamIsReusedThereAfterItsCopy) {
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  std::vector<Moved> all;
  for (int mark = 1; mark <= 40; ++mark) {
    at::Tensor tensor;
    {
      const c10::cuda::CUDAStreamGuard guard(side);
      at::cuda::sleep(1'000'000);
      tensor = make(4 << 20, mark);
    }
    all.push_back(move_out(std::move(tensor), mark, op_));
    const c10::cuda::CUDAStreamGuard guard(side);
    make(4 << 20, -mark);
  }
  for (const Moved& moved : all) EXPECT_TRUE(move_in(moved).eq(moved.mark).all().item<bool>());
}

TEST_F(CudaDeviceTest, ACopyInOnAnotherStreamWaitsForTheCopyOut) {
  move_in(move_out(make(1 << 20, 1), 1, op_));
  Moved moved{};
  {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    at::cuda::sleep(100'000'000);
    moved = move_out(make(1 << 20, 2), 2, op_);
  }
  EXPECT_TRUE(move_in(moved).eq(2).all().item<bool>());
}

TEST_F(CudaDeviceTest, HostMemoryIsWrittenAnewAfterThePendingCopyFromIt) {
  const Moved first = move_out(make(1 << 20, 1), 1, op_);
  at::Tensor other = make(1 << 20, 2);
  const std::uint64_t last_use = op_;
  for (int i = 0; i < 8; ++i) next_tick();
  c10::cuda::device_synchronize();
  at::cuda::sleep(100'000'000);
  const at::Tensor back = move_in(first);
  // Its last use is long past, so nothing but that copy keeps this one back.
  const Moved second = move_out(std::move(other), 2, last_use);
  ASSERT_EQ(second.host, first.host);
  EXPECT_TRUE(back.eq(1).all().item<bool>());
  EXPECT_TRUE(move_in(second).eq(2).all().item<bool>());
}

TEST_F(CudaDeviceTest, WhoReadsAMovedValueOnTheHostWaitsForIt) {
  at::Tensor tensor = make(16 << 20, 5);
  const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
  void* host = device().allocate_host(bytes);
  EXPECT_TRUE(device().is_host_written(host)) << "nobody writes it";
  at::cuda::sleep(200'000'000);
  next_tick();
  device().start_copy_out(host, tensor.data_ptr(), bytes, op_);
  EXPECT_FALSE(device().is_host_written(host));
  device().wait_for_host(host);
  EXPECT_TRUE(device().is_host_written(host));
  const int* numbers = static_cast<const int*>(host);
  EXPECT_TRUE(std::all_of(numbers, numbers + (16 << 20), [](int n) { return n == 5; }));
  device().finish_copy(tensor.data_ptr(), stream_of(tensor));
  device().free_host(host);
}

// Host memory that a copy still reads or writes is given back and taken again, by the host itself.
TEST_F(CudaDeviceTest, TheHostWritesMemoryAfterTheCopiesThatStillUseIt) {
  const Moved moved = move_out(make(16 << 20, 1), 1, op_);
  c10::cuda::device_synchronize();
  at::cuda::sleep(200'000'000);
  const at::Tensor back = move_in(moved);
  void* again = device().allocate_host(64 * kMiB);
  ASSERT_EQ(again, moved.host);
  device().wait_for_freed_host();
  std::fill_n(static_cast<int*>(again), 16 << 20, 2);
  EXPECT_TRUE(back.eq(1).all().item<bool>());

  at::Tensor tensor = make(16 << 20, 3);
  at::cuda::sleep(200'000'000);
  next_tick();
  device().start_copy_out(again, tensor.data_ptr(), 64 * kMiB, op_);
  device().finish_copy(tensor.data_ptr(), stream_of(tensor));
  device().free_host(again);
  ASSERT_EQ(device().allocate_host(64 * kMiB), again);
  device().wait_for_freed_host();
  std::fill_n(static_cast<int*>(again), 16 << 20, 4);
  // What the host wrote is copied in, and its memory given back and taken once more.
  const at::Tensor filled = move_in({again, 16 << 20, 4});
  const Moved other = move_out(make(16 << 20, 6), 6, op_);
  ASSERT_EQ(other.host, again);
  EXPECT_TRUE(filled.eq(4).all().item<bool>());
  EXPECT_TRUE(move_in(other).eq(6).all().item<bool>());
}

TEST_F(CudaDeviceTest, TheHostDoesNotWaitForCopies) {
  const Moved warm = move_out(make(8 << 20, 1), 1, op_);
  move_in(warm);
  c10::cuda::device_synchronize();
  const auto start = std::chrono::steady_clock::now();
  at::cuda::sleep(1'000'000'000);
  const Moved moved = move_out(make(8 << 20, 2), 2, op_);
  const at::Tensor back = move_in(moved);
  const std::chrono::duration<double> issued = std::chrono::steady_clock::now() - start;
  c10::cuda::device_synchronize();
  const std::chrono::duration<double> done = std::chrono::steady_clock::now() - start;
  std::printf("issued in %.3f ms, done in %.1f ms\n", issued.count() * 1e3, done.count() * 1e3);
  EXPECT_LT(issued.count(), done.count() / 10);
  EXPECT_TRUE(back.eq(2).all().item<bool>());
}

TEST_F(CudaDeviceTest, ACopyWaitsForTheLastUseAndNotForWhatCameAfter) {
  const Moved warm = move_out(make(16 << 20, 1), 1, op_);
  move_in(warm);
  at::Tensor tensor = make(16 << 20, 5);
  const std::uint64_t last_use = op_;
  for (int i = 0; i < 8; ++i) next_tick();
  at::cuda::sleep(200'000'000);
  for (int i = 0; i < 8; ++i) next_tick();
  void* host = device().allocate_host(64 * kMiB);
  *static_cast<volatile int*>(host) = 0;
  device().start_copy_out(host, tensor.data_ptr(), 64 * kMiB, last_use);
  device().finish_copy(tensor.data_ptr(), stream_of(tensor));
  // The copy takes about a millisecond, what was issued after the last use a hundred.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(*static_cast<volatile int*>(host), 5);
  EXPECT_EQ(cudaStreamQuery(c10::cuda::getCurrentCUDAStream()), cudaErrorNotReady);
  c10::cuda::device_synchronize();
  device().free_host(host);
}

TEST_F(CudaDeviceTest, HostMemoryHasACap) {
  device().set_host_cap(8 * kMiB);
  void* host = device().allocate_host(8 * kMiB);
  EXPECT_NE(host, nullptr);
  EXPECT_EQ(device().allocate_host(1), nullptr);
  device().free_host(host);
}

TEST_F(CudaDeviceTest, TimesWhatIsIssuedInBetween) {
  const int outer = device().start_timing();
  const int inner = device().start_timing();
  EXPECT_NE(outer, inner);
  at::cuda::sleep(100'000'000);
  device().stop_timing(inner);
  EXPECT_EQ(device().read_timing(inner), std::nullopt);
  EXPECT_EQ(device().read_timing(outer), std::nullopt);
  device().stop_timing(outer);
  c10::cuda::device_synchronize();
  const double seconds = device().read_timing(inner).value();
  EXPECT_GT(seconds, 0.01);
  EXPECT_LT(seconds, 1);
  EXPECT_GE(device().read_timing(outer).value(), seconds);
}

TEST_F(CudaDeviceTest, TimesHoldNoWaitsForTheHostWhenPaced) {
  const auto time_of_fill_by_slow_host = [this] {
    device().pace();
    const int timing = device().start_timing();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const at::Tensor filled = at::zeros({1 << 10}, at::kCUDA);
    device().stop_timing(timing);
    EXPECT_TRUE(device().is_paced());
    device().stop_pacing();
    EXPECT_FALSE(device().is_paced());
    c10::cuda::device_synchronize();
    return device().read_timing(timing).value();
  };
  time_of_fill_by_slow_host();  // Loads the kernel.
  EXPECT_LT(time_of_fill_by_slow_host(), 0.002);
}

TEST_F(CudaDeviceTest, PacingDoesNotWaitForAHostThatWaitsForTheDevice) {
  for (int i = 0; i < 300; ++i) {
    device().pace();
    if (i % 100 == 50) {
      c10::cuda::device_synchronize();
      EXPECT_FALSE(device().is_paced());
    }
  }
  device().stop_pacing();
  c10::cuda::device_synchronize();
}

TEST_F(CudaDeviceTest, LearnsHowFastCopiesAre) {
  for (int i = 0; i < 20; ++i) {
    const Moved moved = move_out(make(16 << 20, i), i, op_);
    move_in(moved);
    c10::cuda::device_synchronize();
  }
  std::printf("%s: 1 GiB out %.1f ms, in %.1f ms, on the device %.3f ms\n", device().name().c_str(),
              device().copy_out_seconds(1 << 30) * 1e3, device().copy_in_seconds(1 << 30) * 1e3,
              device().memory_seconds(1 << 30) * 1e3);
  EXPECT_GT(device().copy_out_seconds(1 << 30), 1e-3);
  EXPECT_LT(device().copy_out_seconds(1 << 30), 1);
  EXPECT_LT(device().copy_in_seconds(1 << 30), 1);
}

TEST_F(CudaDeviceTest, TheLimitBindsReservedBytesAndIsLifted) {
  use_device({.own_pages = false});
  caching::CUDAAllocator& native = gate().native_allocator();
  const double fraction_before = native.getMemoryFraction(0);
  using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;
  const bool expandable_before = Config::use_expandable_segments();
  const std::string settings_before = c10::CachingAllocator::getAllocatorSettings();
  const std::int64_t budget = reserved_bytes() + 64 * kMiB;
  device().limit(budget);
  EXPECT_TRUE(Config::use_expandable_segments());
  std::vector<at::Tensor> tensors;
  EXPECT_THROW(for (int i = 0; i < 100; ++i) tensors.push_back(empty_bytes(3 * kMiB)), OutOfMemory);
  EXPECT_LE(reserved_bytes(), budget);
  EXPECT_GE(device().reserved_peak_bytes(), reserved_bytes());
  std::printf("limit %lld: %zu blocks of 3 MiB, reserved %lld\n", static_cast<long long>(budget),
              tensors.size(), static_cast<long long>(reserved_bytes()));
  device().limit(std::nullopt);
  EXPECT_DOUBLE_EQ(native.getMemoryFraction(0), fraction_before);
  EXPECT_EQ(Config::use_expandable_segments(), expandable_before);
  EXPECT_EQ(c10::CachingAllocator::getAllocatorSettings(), settings_before);
  EXPECT_NO_THROW(empty_bytes(256 * kMiB));
}

// Two of 12 MiB take two pages of 20 MiB.
TEST_F(CudaDeviceTest, GrowingByPagesStaysUnderTheLimit) {
  use_device({.own_pages = false});
  const std::int64_t budget = reserved_bytes() + 32 * kMiB;
  device().limit(budget);
  std::vector<at::Tensor> tensors;
  EXPECT_THROW(for (int i = 0; i < 4; ++i) tensors.push_back(empty_bytes(12 * kMiB)), OutOfMemory);
  EXPECT_LE(reserved_bytes(), budget);
  device().limit(std::nullopt);
}

}  // namespace
}  // namespace lowtide::cuda
