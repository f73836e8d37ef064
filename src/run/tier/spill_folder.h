// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace lowtide::tier {

// An open file; closed when it goes.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OpenFile& operator=(OpenFile&&) = delete;

  int descriptor() const { return descriptor_; }
  // Whether reads and writes pass the kernel's cache by.
  bool is_direct() const;
  // They go through it from here on. False: they did before.
  bool stop_direct();

 private:
  int descriptor_;
};

// A new file in the folder that only we can read and that has no name: when the process ends, in
// whatever way, it is gone. O_DIRECT where the file system knows it. Throws InvalidInput, saying
// what to do, if there is no such folder or no file can be made there.
OpenFile open_nameless_file(const std::string& folder);

// The same where the file system makes no files without names: one whose name is taken away at
// once. A process that is killed between the two leaves it there, which is empty and readable only
// by us: nothing is written to it before. Returns the descriptor; -1 with errno set if it cannot be
// made.
int open_and_unlink(const std::string& folder);

// What is wrong with the folder, though it can be used; empty: nothing.
std::string warning_about(const std::string& folder);

// What is free for us in the file system of the folder.
std::int64_t free_bytes_in(const std::string& folder);

}  // namespace lowtide::tier
