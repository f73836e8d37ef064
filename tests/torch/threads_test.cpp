// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Threads besides the one that made the session: one that trains too, and one that only makes data.
#include <future>
#include <memory>
#include <thread>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 8;

// Without the generator, which the threads share.
State own_state(const Training& training, const Access& access) {
  State state = take_state(training, test_device(), access);
  state.pop_back();
  return state;
}

State last_state(const Reference& reference) {
  State state = reference.run.states.back();
  state.pop_back();
  return state;
}

// Neither program draws random numbers once it is built.
TEST(TrainingThread, IsManagedUnderAGuard) {
  LT_SKIP_IF(why_skip());
  const Program& here = program("dense_layer_norm");
  const Program& there = program("dense_shared_weights");
  const State wanted_here = last_state(reference(here, kSteps));
  std::int64_t budget = reference(here, kSteps).budget(60);
  const State wanted_there = last_state(reference(there, kSteps));
  budget += reference(there, kSteps).budget(60) - fixed_bytes();
  // The other thread has a cuBLAS of its own, with a workspace of its own.
  if (test_device().is_cuda()) budget += std::int64_t{64} << 20;

  Session session(options_for(budget));
  const auto one = here.make(test_device(), kSeed);
  const auto two = there.make(test_device(), kSeed);
  std::thread thread([&] {
    const Session::ThreadGuard guard(session);
    at::set_num_threads(1);
    for (int i = 0; i < kSteps; ++i) two->step(i);
  });
  for (int i = 0; i < kSteps; ++i) session.step([&] { one->step(i); });
  thread.join();
  EXPECT_EQ(first_difference(wanted_here, own_state(*one, through(session))), std::nullopt);
  EXPECT_EQ(first_difference(wanted_there, own_state(*two, through(session))), std::nullopt);
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
}

// A training whose batches another thread makes, one step ahead.
std::unique_ptr<Training> make_fed(at::Device device) {
  auto model = make_model<LinearStack>(device, kSeed, LinearStackShape{128, 128, 128, 12});
  const auto make_batch = [device](int i) {
    at::set_num_threads(1);
    return Data(device, kSeed + static_cast<std::uint64_t>(i)).normal({256, 128}).mul_(0.5);
  };
  auto next = std::make_shared<std::future<at::Tensor>>();
  return train(model, make_adam(*model), [=](int i) {
    if (!next->valid()) *next = std::async(std::launch::async, make_batch, i);
    const at::Tensor batch = next->get();
    *next = std::async(std::launch::async, make_batch, i + 1);
    return at::mse_loss(model->forward(batch), batch.flip(0));
  });
}

TEST(DataThread, NeedsNoGuard) {
  LT_SKIP_IF(why_skip());
  const Program fed{"fed_by_a_thread",
                    [](at::Device device, std::uint64_t) { return make_fed(device); }};
  for (const Means means : {Means::kRecompute, Means::kHost, Means::kMixed}) {
    SCOPED_TRACE(name_of(means));
    expect_identical(fed, kSteps, 60, options_for(0, means));
  }
}

}  // namespace
}  // namespace lowtide::torch_test
