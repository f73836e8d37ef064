// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cstring>

#include "base/bytes.h"
#include "fuzzing.h"

namespace {

using namespace lowtide;

// Sizes are not printed for parsing back, but their plain number of bytes must be.
void check_size(std::string_view text) {
  const auto bytes = fuzz::accepted(base::parse_bytes, text);
  if (!bytes) return;
  fuzz::require(*bytes >= 0, "a size is not negative");
  fuzz::require(base::parse_bytes(std::to_string(*bytes)) == *bytes, "bytes read back exactly");
  fuzz::require(!base::format_bytes(*bytes).empty(), "a size has a form for people");
}

void check_budget(std::string_view text, std::int64_t whole_bytes) {
  const auto parse = [whole_bytes](std::string_view t) {
    return base::parse_budget(t, whole_bytes);
  };
  const auto bytes = fuzz::accepted(parse, text);
  if (bytes) fuzz::require(*bytes >= 0, "a budget is not negative");
}

}  // namespace

// The first eight bytes are the size that a budget is a share of, the rest is the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_size(fuzz::text_of(data, size));
  std::uint64_t whole = 0;
  if (size < sizeof whole) return 0;
  std::memcpy(&whole, data, sizeof whole);
  check_budget(fuzz::text_of(data + sizeof whole, size - sizeof whole),
               static_cast<std::int64_t>(whole >> 1U));
  return 0;
}
