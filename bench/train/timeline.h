// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace lowtide::bench {

// What the GPU does, and what the host asks of it, from construction to destruction, as a file that
// chrome://tracing and Perfetto show. It slows the host down.
class Timeline {
 public:
  explicit Timeline(std::string file);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

 private:
  const std::string file_;
};

}  // namespace lowtide::bench
