// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/random.h"
#include "run/tier/extents.h"

// What the tests of the file share.

namespace lowtide::tier {

// A folder of its own, gone at the end. In the current folder, which is on a disk; what is called
// temporary may be memory.
class TempFolder {
 public:
  TempFolder() {
    std::string name = "lowtide-test-XXXXXX";
    path_ = std::filesystem::absolute(mkdtemp(name.data())).string();
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

// Memory as the file wants it.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes)
      : bytes_(bytes),
        data_(std::aligned_alloc(Extents::kBlockBytes,
                                 static_cast<std::size_t>(Extents::rounded(bytes)))) {
    std::memset(data_, 0, static_cast<std::size_t>(Extents::rounded(bytes)));
  }
  Buffer(std::int64_t bytes, std::uint64_t seed) : Buffer(bytes) {
    base::Random random(seed);
    auto* words = static_cast<std::uint64_t*>(data_);
    for (std::int64_t i = 0; i < Extents::rounded(bytes) / 8; ++i) words[i] = random.next();
  }
  ~Buffer() { std::free(data_); }
  Buffer(Buffer&& other) noexcept : bytes_(other.bytes_), data_(other.data_) {
    other.data_ = nullptr;
  }
  Buffer& operator=(Buffer&&) = delete;

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  bool has_bytes_of(const Buffer& other) const {
    return std::memcmp(data_, other.data_, static_cast<std::size_t>(bytes_)) == 0;
  }

 private:
  std::int64_t bytes_;
  void* data_;
};

}  // namespace lowtide::tier
