// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Threads besides the one that made the session: one that trains too, one that only makes data, and
// several at once that read the same weights.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "session/devices.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/layers.h"
#include "torch/meter.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 8;

// A thread with a result. Not std::async(), which runs its function inside of call_once(), and that
// lies in libstdc++: ThreadSanitizer would take all of it for code that it does not know.
template <class Result>
class Task {
 public:
  explicit Task(std::function<Result()> make)
      : thread_([this, make = std::move(make)] {
          try {
            result_ = make();
          } catch (...) {
            failure_ = std::current_exception();
          }
        }) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (thread_.joinable()) thread_.join();
  }

  // Waits; throws what the function threw. Once.
  Result get() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return *std::move(result_);
  }

 private:
  std::optional<Result> result_;
  std::exception_ptr failure_;
  std::thread thread_;
};

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
  // Less than the larger of the two takes when it is alone: whatever the other one is at just then,
  // there is no step without evictions.
  std::int64_t budget = reference(here, kSteps).budget(80);
  const State wanted_there = last_state(reference(there, kSteps));
  budget = std::max(budget, reference(there, kSteps).budget(80));
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
  // How much the libraries of the other thread take on a GPU is not known beforehand.
  if (test_device().is_cpu()) {
    EXPECT_GE(session.stats().evictions, kSteps);
  }
}

// A training whose batches another thread makes, one step ahead.
std::unique_ptr<Training> make_fed(at::Device device) {
  auto model = make_model<LinearStack>(device, kSeed, LinearStackShape{128, 128, 128, 12});
  const auto make_batch = [device](int i) {
    at::set_num_threads(1);
    return Data(device, kSeed + static_cast<std::uint64_t>(i)).normal({256, 128}).mul_(0.5);
  };
  using Batch = Task<at::Tensor>;
  auto next = std::make_shared<std::unique_ptr<Batch>>();
  return train(model, make_adam(*model), [=](int i) {
    if (!*next) *next = std::make_unique<Batch>([=] { return make_batch(i); });
    const at::Tensor batch = (*next)->get();
    *next = std::make_unique<Batch>([=] { return make_batch(i + 1); });
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

// Weights that all threads read, and a bag in which they leave tensors for others to destroy.
class Shared {
 public:
  Shared() {
    Data data(test_device(), kSeed);
    for (int i = 0; i < kLayers; ++i) {
      weights.push_back(data.normal({kWidth, kWidth}).mul_(0.1).requires_grad_());
    }
  }
  void leave(at::Tensor tensor) {
    const std::lock_guard lock(mutex_);
    bag_.push_back(std::move(tensor));
  }
  void destroy_what_was_left() {
    std::vector<at::Tensor> left;
    const std::lock_guard lock(mutex_);
    left.swap(bag_);
  }

  static constexpr int kLayers = 8;
  static constexpr std::int64_t kWidth = 128;
  std::vector<at::Tensor> weights;

 private:
  std::mutex mutex_;
  std::vector<at::Tensor> bag_;
};

// What one thread does: sums of gradients over its own data.
using Sums = std::vector<at::Tensor>;
Sums work(Shared& shared, int thread, int rounds, const std::function<void()>& meet_others) {
  at::set_num_threads(1);
  Sums sums;
  for (const at::Tensor& weight : shared.weights) sums.push_back(at::zeros_like(weight));
  for (int round = 0; round < rounds; ++round) {
    Data data(test_device(), kSeed + static_cast<std::uint64_t>(100 * thread + round));
    at::Tensor x = data.normal({2 * Shared::kWidth, Shared::kWidth});
    for (const at::Tensor& weight : shared.weights) x = at::mm(x, weight).relu_().add(0.01);
    meet_others();
    const auto gradients = torch::autograd::grad({x.square().mean()}, shared.weights);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add_(gradients[i]);
    shared.leave(x);
    if (round % 2 == thread % 2) shared.destroy_what_was_left();
  }
  return sums;
}

// What the session's own thread may do while others work: steps, captures, a session inside.
void use_session(Session& session, const Shared& shared, const SessionOptions& options) {
  for (int i = 0; i < 10; ++i) {
    session.capture_next_step();
    session.step([&] {
      session.hold(shared.weights[0]);
      static_cast<void>(at::mm(shared.weights[0].detach(), shared.weights[1].detach()));
      session.release(shared.weights[0]);
    });
    static_cast<void>(session.captured());
    Session inner(options);
    inner.step([&] { static_cast<void>(shared.weights[2].detach().square()); });
    static_cast<void>(inner.stats());
  }
}

class ThreadsAtOnce : public testing::TestWithParam<Means> {};

TEST_P(ThreadsAtOnce, GetTheBitsOfAPlainRun) {
  LT_SKIP_IF(why_skip());
  constexpr int kThreads = 3;
  constexpr int kRounds = 6;
  std::vector<Sums> wanted;
  {
    Shared shared;
    for (int i = 0; i < kThreads; ++i) wanted.push_back(work(shared, i, kRounds, [] {}));
  }
  const std::int64_t libraries = fixed_bytes() == 0 ? 0 : fixed_bytes() + kThreads * (64LL << 20);
  const SessionOptions options = options_for(libraries + (std::int64_t{6} << 20), GetParam());
  Session session(options);
  Shared shared;
  // All have gone forward before one goes backward, so that memory is short.
  std::barrier before_backward(kThreads);
  std::vector<std::unique_ptr<Task<Sums>>> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(std::make_unique<Task<Sums>>([&, i] {
      const Session::ThreadGuard guard(session);
      // The others must not wait for one that is done or has failed.
      const auto leave = [](auto* barrier) { barrier->arrive_and_drop(); };
      const std::unique_ptr<std::barrier<>, decltype(leave)> member(&before_backward, leave);
      return work(shared, i, kRounds, [&] { before_backward.arrive_and_wait(); });
    }));
  }
  // The end of a step makes sources of what the threads have at hand: only a move takes them away.
  if (GetParam() != Means::kRecompute) use_session(session, shared, options);
  std::vector<Sums> found;
  for (const auto& thread : threads) found.push_back(thread->get());
  // How much the libraries of each thread take on a GPU is not known beforehand.
  if (test_device().is_cpu()) {
    EXPECT_GT(session.stats().evictions, 0);
  }
  EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t j = 0; j < found[i].size(); ++j) {
      EXPECT_TRUE(at::equal(found[i][j], wanted[i][j])) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Means, ThreadsAtOnce,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& tested) { return name_of(tested.param); });

// A thread that draws from the generator of all, while an op that is about to draw asks for its
// memory: what the op drew is what it draws again when it is replayed.
TEST(ThreadThatDraws, DoesNotComeBetweenAnOpAndTheStateThatItIsReplayedFrom) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "looks into torch's CPU allocator";
  install_meter();
  Session session(options_for(std::int64_t{1} << 40, Means::kRecompute));
  engine::Ledger& ledger = session::device_named("cpu", {}).device.ledger();
  const at::Tensor ones = at::ones({1 << 15});
  // The op allocates a few times before it draws, and so does what writes its state down.
  for (int allocations = 0; allocations < 8; ++allocations) {
    std::optional<Task<bool>> other;
    int left = allocations;
    on_metered_allocation([&, here = std::this_thread::get_id()] {
      if (std::this_thread::get_id() != here || left-- != 0) return;
      const auto has_drawn = std::make_shared<std::atomic<bool>>(false);
      other.emplace([&session, has_drawn] {
        const Session::ThreadGuard guard(session);
        at::set_num_threads(1);
        at::rand({16});
        return has_drawn->exchange(true);
      });
      for (int i = 0; i < 50 && !*has_drawn; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    const at::Tensor dropped = at::dropout(ones, 0.5, /*train=*/true);
    on_metered_allocation(nullptr);
    if (other) other->get();
    const double sum = dropped.sum(at::kDouble).item<double>();
    const std::int64_t replays = session.stats().recomputes;
    ledger.evict_more(std::int64_t{1} << 40);
    EXPECT_EQ(dropped.sum(at::kDouble).item<double>(), sum) << "at allocation " << allocations;
    EXPECT_GT(session.stats().recomputes, replays);
  }
}

}  // namespace
}  // namespace lowtide::torch_test
