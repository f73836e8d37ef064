// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Copies that take a while: what a plan fetched too late starts earlier next time, and not too much
// is on the way at once.
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "session/devices.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/passing_device.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

// A copy takes as long as so many ops; whoever wants it before that waits.
std::uint64_t ops_of_a_copy = 6;
constexpr auto kWait = std::chrono::milliseconds(2);
// How often each copy is carried out, so that it is work.
int times_each = 1;
// The device has not come so far that times can be read.
bool is_far_behind = false;

// One direction.
struct Lane {
  struct Copy {
    std::int64_t bytes;
    std::uint64_t done_at;
  };
  std::map<const void*, Copy> copies;
  // At the end of an op: those that one wanted at once are over by then.
  std::int64_t most_bytes = 0;

  std::int64_t bytes(std::uint64_t now) {
    std::erase_if(copies, [now](const auto& entry) { return entry.second.done_at <= now; });
    std::int64_t sum = 0;
    for (const auto& [block, copy] : copies) sum += copy.bytes;
    return sum;
  }
};

class SlowDevice final : public PassingDevice {
 public:
  using PassingDevice::PassingDevice;

  void start_copy_out(void* host, const void* block, std::int64_t bytes,
                      std::uint64_t last_use) override {
    for (int i = 0; i < times_each; ++i) {
      PassingDevice::start_copy_out(host, block, bytes, last_use);
    }
    begin(out_, block, bytes);
  }
  void start_copy_in(void* block, void* host, std::int64_t bytes) override {
    for (int i = 0; i < times_each; ++i) PassingDevice::start_copy_in(block, host, bytes);
    begin(in_, block, bytes);
  }
  void finish_copy(const void* block, void* stream) override {
    PassingDevice::finish_copy(block, stream);
    const std::lock_guard lock(mutex_);
    unfinished_.erase(block);
    out_.copies.erase(block);
    const auto copy = in_.copies.find(block);
    if (copy == in_.copies.end()) return;
    const bool is_late = copy->second.done_at > now_;
    in_.copies.erase(copy);
    if (is_late) std::this_thread::sleep_for(kWait);
  }
  std::optional<double> read_timing(int timing) override {
    return is_far_behind ? std::nullopt : PassingDevice::read_timing(timing);
  }
  void tick(std::uint64_t op) override {
    PassingDevice::tick(op);
    const std::lock_guard lock(mutex_);
    now_ = op;
    for (Lane* lane : {&in_, &out_}) lane->most_bytes = std::max(lane->most_bytes, lane->bytes(op));
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    in_.most_bytes = out_.most_bytes = 0;
  }
  // Blocks that were copied and never waited for.
  std::size_t unfinished() const { return unfinished_.size(); }
  std::int64_t most_in_bytes() const { return in_.most_bytes; }
  std::int64_t most_out_bytes() const { return out_.most_bytes; }

 private:
  void begin(Lane& lane, const void* block, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    unfinished_.insert(block);
    lane.copies[block] = {.bytes = bytes, .done_at = now_ + ops_of_a_copy};
  }

  std::mutex mutex_;
  Lane in_;
  Lane out_;
  std::set<const void*> unfinished_;
  std::uint64_t now_ = 0;
};

SlowDevice* slow_device = nullptr;

[[maybe_unused]] const bool is_wrapped = [] {
  session::wrap_devices([](engine::Device& device) -> engine::Device& {
    slow_device = new SlowDevice(device);
    return *slow_device;
  });
  return true;
}();

constexpr int kSteps = 14;

// A budget on a GPU also holds what its libraries take, of which a small program is no large part.
const Program& much_to_copy() {
  static const Program wide = {
      "wide", [](at::Device device, std::uint64_t seed) {
        auto model = make_model<LinearStack>(device, seed, LinearStackShape{1024, 1024, 1024, 12});
        const at::Tensor x = Data(device, seed).normal({4096, 1024});
        return train(model, make_sgd(*model),
                     [=](int) { return at::mse_loss(model->forward(x), x); });
      }};
  return test_device().is_cuda() ? wide : program("dense_layer_norm");
}

SessionOptions planned_options(const Reference& plain) {
  SessionOptions options = options_for(plain.budget(70), Means::kHost);
  options.policy = "capuchin";
  options.wait_for_plans = true;
  return options;
}

TEST(SlowCopies, OfALateFetchStartEarlierNextTime) {
  LT_SKIP_IF(why_skip());
  if (test_device().is_cuda()) GTEST_SKIP() << "here the host waits, which a GPU need not notice";
  const Program& chosen = program("dense_layer_norm");
  const Reference& plain = reference(chosen, kSteps);
  Session session(planned_options(plain));
  const auto training = chosen.make(test_device(), kSeed);
  double first_stall = 0;
  for (int i = 0; i < kSteps; ++i) {
    session.step([&] { training->step(i); });
    if (first_stall == 0) first_stall = session.stats().stall_seconds;
    EXPECT_EQ(first_difference(plain.run.states[static_cast<std::size_t>(i)],
                               take_state(*training, test_device(), through(session))),
              std::nullopt);
  }
  const SessionStats stats = session.stats();
  EXPECT_GT(stats.guided_steps, 6);
  EXPECT_GT(stats.fetches_hurried, 0);
  EXPECT_LT(stats.stall_seconds, first_stall);
  EXPECT_LE(stats.peak_bytes, stats.budget_bytes);
}

TEST(SlowCopies, AreNotBegunBeforeOthersEnd) {
  LT_SKIP_IF(why_skip());
  const Program& chosen = much_to_copy();
  const Reference& plain = reference(chosen, kSteps);
  const SessionOptions options = planned_options(plain);
  slow_device->reset();
  ops_of_a_copy = 40;
  const ManagedRun run = run_managed(chosen, options, plain.run);
  EXPECT_FALSE(run.difference) << *run.difference;
  EXPECT_GT(run.stats.prefetches, 0);
  const std::int64_t bound = run.stats.budget_bytes / 4;
  EXPECT_GT(slow_device->most_in_bytes(), 0);
  EXPECT_LE(slow_device->most_in_bytes(), bound);
  EXPECT_LE(slow_device->most_out_bytes(), bound);
}

// The plan has everything go and come back, where little has to; and on the CPU whoever starts a
// copy carries it out. That its fetches come late is seen just before it is dropped, so that a plan
// that starts them earlier is being made meanwhile.
TEST(SlowCopies, MakeAPlanThatCopiesEverythingSlowerThanTheOnlineRuleSoItIsDroppedForGood) {
  LT_SKIP_IF(why_skip());
  if (test_device().is_cuda()) GTEST_SKIP() << "copies go on beside what is computed";
  constexpr int kLongRun = 22;
  constexpr int kTrialSteps = 12;
  const Program& chosen = program("convolution_unet");
  const Reference& plain = reference(chosen, kLongRun);
  SessionOptions options = options_for(plain.budget(90), Means::kHost);
  options.policy = "evict_all";
  options.wait_for_plans = true;
  times_each = 40;
  {
    Session session(options);
    const auto training = chosen.make(test_device(), kSeed);
    for (int i = 0; i < kLongRun; ++i) {
      session.step([&] { training->step(i); });
      EXPECT_EQ(first_difference(plain.run.states[static_cast<std::size_t>(i)],
                                 take_state(*training, test_device(), through(session))),
                std::nullopt);
      const SessionStats stats = session.stats();
      is_far_behind = stats.plans > 0 && stats.guided_steps < kTrialSteps - 1;
      if (stats.guided_steps < kTrialSteps) {
        EXPECT_EQ(stats.plans_dropped, 0);
      } else if (stats.plans_dropped == 0) {
        EXPECT_GT(stats.stall_seconds, 0.005 * stats.predicted_step_seconds)
            << "no other plan is being made";
      }
    }
    const SessionStats stats = session.stats();
    EXPECT_EQ(stats.plans, 1);
    EXPECT_EQ(stats.plans_dropped, 1);
    // Nor is there another plan for steps of this shape.
    EXPECT_EQ(stats.guided_steps, kTrialSteps);
    EXPECT_GT(stats.evictions, 0);
    EXPECT_LE(stats.peak_bytes, stats.budget_bytes);
  }
  times_each = 1;
}

// What only records keep alive is away when the session ends, and dies with them.
TEST(SlowCopies, AreWaitedForBeforeTheirBlocksGo) {
  LT_SKIP_IF(why_skip());
  constexpr std::int64_t kSide = 256;
  constexpr std::int64_t kBytes = kSide * kSide * 4;
  const auto square = [](double value) { return at::full({kSide, kSide}, value, test_device()); };
  {
    Session session(options_for(fixed_bytes() + 3 * kBytes + kBytes / 2));
    const at::Tensor sum = square(3) + square(4);
    const at::Tensor more = square(5) + square(6);
    EXPECT_EQ(sum.sum().item<float>() + more.sum().item<float>(), 18.0F * kSide * kSide);
    EXPECT_GT(session.stats().moves, 2);
  }
  EXPECT_EQ(slow_device->unfinished(), 0U);
}

}  // namespace
}  // namespace lowtide::torch_test
