// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/pacer.h"

#include <algorithm>
#include <condition_variable>

#include "run/cuda/check.h"
#include "run/cuda/graph_capture.h"

namespace lowtide::cuda {
namespace {

// With an op's kernels and events, two batches are well within the thousand entries that a stream's
// queue takes before the host has to wait.
constexpr int kBatchOps = 64;
// A host that makes room for a block is busy for so long at most. One that waits for the device
// does so again, perhaps at every second op; that must not take forever.
constexpr std::chrono::milliseconds kMostPatience{256};
constexpr std::chrono::milliseconds kLeastPatience{1};

}  // namespace

class Pacer::Gate {
 public:
  explicit Gate(std::chrono::milliseconds patience) : patience_(patience) {}

  // False: the device has lost its patience.
  bool open() {
    const std::lock_guard lock(mutex_);
    const bool is_in_time = !is_open_;
    is_open_ = true;
    opened_.notify_all();
    return is_in_time;
  }
  bool is_open() {
    const std::lock_guard lock(mutex_);
    return is_open_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait_for(lock, patience_, [this] { return is_open_; });
    is_open_ = true;
  }

 private:
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

Pacer::Pacer() : patience_(kMostPatience) {}

void Pacer::pace(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (is_standing() && ++ops_in_batch_ < kBatchOps) return;
  if (is_capturing(stream)) return;
  ops_in_batch_ = 0;
  auto next = std::make_shared<Gate>(patience_);
  auto share = std::make_unique<std::shared_ptr<Gate>>(next);
  const auto wait_at = [](void* data) {
    const std::unique_ptr<std::shared_ptr<Gate>> gate(static_cast<std::shared_ptr<Gate>*>(data));
    (*gate)->wait();
  };
  LT_CUDA(cudaLaunchHostFunc(stream, wait_at, share.get()));
  static_cast<void>(share.release());
  // Not before: between the two the device would catch up.
  if (open_gate()) patience_ = std::min(2 * patience_, kMostPatience);
  gate_ = std::move(next);
}

bool Pacer::holds_device() {
  const std::lock_guard lock(mutex_);
  return is_standing();
}

// True: in time.
bool Pacer::open_gate() {
  if (gate_ == nullptr) return false;
  if (gate_->open()) return true;
  patience_ = std::max(patience_ / 2, kLeastPatience);
  return false;
}

bool Pacer::is_standing() const { return gate_ != nullptr && !gate_->is_open(); }

void Pacer::release() {
  const std::lock_guard lock(mutex_);
  open_gate();
  gate_.reset();
}

}  // namespace lowtide::cuda
