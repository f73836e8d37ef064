// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/digest.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace lowtide::base {

void Digest::add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }

void Digest::add(std::string_view text) {
  for (const char c : text) add_byte(static_cast<unsigned char>(c));
  // The length keeps ("ab", "c") apart from ("a", "bc").
  add(static_cast<std::int64_t>(text.size()));
}

void Digest::add(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    add_byte(static_cast<unsigned char>((bits >> shift) & 0xffU));
  }
}

std::string Digest::text() const {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, state_);
  return text.data();
}

}  // namespace lowtide::base
