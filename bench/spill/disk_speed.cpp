// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "disk_speed.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "run/tier/block_io.h"
#include "run/tier/spill_folder.h"

namespace lowtide::bench {
namespace {

using tier::IoRequest;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

double seconds_of(tier::BlockIo& io, IoRequest::Kind kind, std::byte* memory, std::int64_t pieces,
                  std::int64_t piece_bytes) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t begun = 0;
  for (std::int64_t ended = 0; ended < pieces; ++ended) {
    for (; begun < pieces && begun - ended < io.depth(); ++begun) {
      std::byte* data = memory + (begun % io.depth()) * piece_bytes;
      io.submit({kind, data, piece_bytes, begun * piece_bytes, 0});
    }
    const std::int64_t done = io.wait().result;
    if (done != piece_bytes) throw IoError(base::concat("the disk transferred only ", done));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

DiskSpeed measure_disk(const std::string& folder, std::int64_t bytes, std::int64_t piece_bytes,
                       int depth) {
  const tier::OpenFile file = tier::open_nameless_file(folder);
  std::unique_ptr<tier::BlockIo> io = tier::make_uring_io(file.descriptor(), depth);
  if (!io) io = tier::make_thread_io(file.descriptor(), depth);
  const auto size = static_cast<std::size_t>(piece_bytes * depth);
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(4096, size));
  std::memset(memory.get(), 1, size);
  auto* data = static_cast<std::byte*>(memory.get());
  const std::int64_t pieces = bytes / piece_bytes;
  const auto total = static_cast<double>(pieces * piece_bytes);
  return {total / seconds_of(*io, IoRequest::Kind::kWrite, data, pieces, piece_bytes),
          total / seconds_of(*io, IoRequest::Kind::kRead, data, pieces, piece_bytes)};
}

}  // namespace lowtide::bench
