// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include "run/tier/block_io.h"

namespace lowtide::tier {
namespace {

std::int64_t carry_out(int file, const IoRequest& request) {
  const auto bytes = static_cast<std::size_t>(request.bytes);
  for (;;) {
    const ssize_t done = request.kind == IoRequest::Kind::kWrite
                             ? pwrite(file, request.data, bytes, request.offset)
                             : pread(file, request.data, bytes, request.offset);
    if (done >= 0) return done;
    if (errno != EINTR) return -errno;
  }
}

// As many threads as may be under way, each doing one plain read or write at a time.
class ThreadIo final : public BlockIo {
 public:
  ThreadIo(int file, int depth) : file_(file) {
    for (int i = 0; i < depth; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadIo() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    has_request_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::string name() const override { return "threads"; }
  int depth() const override { return static_cast<int>(threads_.size()); }

  void submit(const IoRequest& request) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    has_request_.notify_one();
  }

  IoResult wait() override {
    std::unique_lock lock(mutex_);
    has_result_.wait(lock, [this] { return !results_.empty(); });
    const IoResult result = results_.front();
    results_.pop_front();
    return result;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_request_.wait(lock, [this] { return is_over_ || !requests_.empty(); });
      if (requests_.empty()) return;
      const IoRequest request = requests_.front();
      requests_.pop_front();
      lock.unlock();
      const IoResult result = {request.tag, carry_out(file_, request)};
      lock.lock();
      results_.push_back(result);
      has_result_.notify_one();
    }
  }

  const int file_;
  std::mutex mutex_;
  std::condition_variable has_request_;
  std::condition_variable has_result_;
  // The members below are guarded by mutex_.
  std::deque<IoRequest> requests_;
  std::deque<IoResult> results_;
  bool is_over_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<BlockIo> make_thread_io(int file, int depth) {
  return std::make_unique<ThreadIo>(file, depth);
}

}  // namespace lowtide::tier
