// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/block_io.h"

#ifdef LOWTIDE_HAS_URING

#include <cerrno>

#include <liburing.h>

namespace lowtide::tier {
namespace {

class UringIo final : public BlockIo {
 public:
  UringIo(int file, int depth, const io_uring& ring) : file_(file), depth_(depth), ring_(ring) {}
  ~UringIo() override {
    while (under_way_ > 0) wait();
    io_uring_queue_exit(&ring_);
  }

  std::string name() const override { return "io_uring"; }
  int depth() const override { return depth_; }

  void submit(const IoRequest& request) override {
    // There is one: the ring has as many places as may be under way.
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    const auto bytes = static_cast<unsigned>(request.bytes);
    const auto offset = static_cast<std::uint64_t>(request.offset);
    if (request.kind == IoRequest::Kind::kWrite) {
      io_uring_prep_write(entry, file_, request.data, bytes, offset);
    } else {
      io_uring_prep_read(entry, file_, request.data, bytes, offset);
    }
    io_uring_sqe_set_data64(entry, request.tag);
    ++under_way_;
    // What the kernel does not take now, it takes in wait().
    io_uring_submit(&ring_);
  }

  IoResult wait() override {
    io_uring_cqe* ended = nullptr;
    while (io_uring_peek_cqe(&ring_, &ended) != 0) io_uring_submit_and_wait(&ring_, 1);
    const IoResult result = {io_uring_cqe_get_data64(ended), ended->res};
    io_uring_cqe_seen(&ring_, ended);
    --under_way_;
    return result;
  }

 private:
  const int file_;
  const int depth_;
  int under_way_ = 0;
  io_uring ring_;
};

// Whether it may be used, too: it is asked to do nothing.
bool works(io_uring& ring) {
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  int submitted = 0;
  do {
    submitted = io_uring_submit_and_wait(&ring, 1);
  } while (submitted == -EINTR);
  io_uring_cqe* ended = nullptr;
  if (submitted < 0 || io_uring_peek_cqe(&ring, &ended) != 0) return false;
  io_uring_cqe_seen(&ring, ended);
  return true;
}

}  // namespace

std::unique_ptr<BlockIo> make_uring_io(int file, int depth) {
  io_uring ring{};
  // Containers often forbid it.
  if (io_uring_queue_init(static_cast<unsigned>(depth), &ring, 0) != 0) return nullptr;
  if (!works(ring)) {
    io_uring_queue_exit(&ring);
    return nullptr;
  }
  return std::make_unique<UringIo>(file, depth, ring);
}

}  // namespace lowtide::tier

#else

namespace lowtide::tier {

std::unique_ptr<BlockIo> make_uring_io(int, int) { return nullptr; }

}  // namespace lowtide::tier

#endif
