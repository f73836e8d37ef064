// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace lowtide::tier {

// One read or write of a file.
struct IoRequest {
  enum class Kind : std::uint8_t { kRead, kWrite };
  Kind kind = Kind::kRead;
  void* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
  // Given back with the result.
  std::uint64_t tag = 0;
};

struct IoResult {
  std::uint64_t tag = 0;
  // Bytes, which may be fewer than were asked for; or an errno, negative.
  std::int64_t result = 0;
};

// Reads and writes of one file, several at a time; they end in any order. Used by one thread. Tests
// put faults here.
class BlockIo {
 public:
  BlockIo() = default;
  // Waits for what is under way.
  virtual ~BlockIo() = default;
  BlockIo(const BlockIo&) = delete;
  BlockIo& operator=(const BlockIo&) = delete;

  // "io_uring" or "threads".
  virtual std::string name() const = 0;
  // How many requests may be under way.
  virtual int depth() const = 0;
  // Requires: fewer than depth() are under way. The memory stays until the request has ended.
  virtual void submit(const IoRequest& request) = 0;
  // Waits until one has ended. Requires: one is under way.
  virtual IoResult wait() = 0;
};

// Null where the kernel does not let us, or where this was built without liburing.
std::unique_ptr<BlockIo> make_uring_io(int file, int depth);
std::unique_ptr<BlockIo> make_thread_io(int file, int depth);

using WrapIo = std::function<std::unique_ptr<BlockIo>(std::unique_ptr<BlockIo>)>;

}  // namespace lowtide::tier
