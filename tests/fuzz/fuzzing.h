// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/errors.h"

// What the fuzz targets share. A target takes any bytes; a parser may refuse them with InvalidInput
// and nothing else, and what it accepts must come through print and parse unchanged.

namespace lowtide::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the program, which is how libFuzzer is told of a finding.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// What `parse` makes of the text, or nothing if it refuses it. Any other exception ends the
// program.
template <class Parse>
auto accepted(Parse parse, std::string_view text) -> std::optional<decltype(parse(text))> {
  try {
    return parse(text);
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

// Checks that printing `thing`, parsing that and printing again gives the same text.
template <class Thing, class Parse, class Print>
void require_fixed_point(const Thing& thing, Parse parse, Print print) {
  const std::string printed = print(thing);
  require(print(parse(printed)) == printed, "print, parse, print is a fixed point");
}

}  // namespace lowtide::fuzz
