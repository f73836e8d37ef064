// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/numbers.h"

#include <array>

namespace lowtide::base {

std::string print_number(double number) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::string(text.data(), end) : std::string("0");
}

}  // namespace lowtide::base
