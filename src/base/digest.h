// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::base {

// A 64-bit FNV-1a hash built up piece by piece. It tells traces apart that differ by accident; it
// is no protection against malice.
class Digest {
 public:
  void add(std::string_view text);
  void add(std::int64_t number);
  std::uint64_t value() const { return state_; }
  // The same in sixteen hexadecimal digits.
  std::string text() const;

 private:
  void add_byte(unsigned char byte);
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace lowtide::base
