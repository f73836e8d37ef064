// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <string>

#include "lowtide/errors.h"

// LT_REQUIRE: what a caller gave us (throws InvalidInput). LT_CHECK: what we believe (throws
// InternalError). Both take the message as further arguments, which are streamed one after another
// and only when the condition fails.

namespace lowtide::base {

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

[[noreturn]] void throw_check_failure(const char* file, int line, const char* condition,
                                      const std::string& message);

}  // namespace lowtide::base

#define LT_REQUIRE(condition, ...)                                         \
  do {                                                                     \
    if (!(condition)) {                                                    \
      throw ::lowtide::InvalidInput(::lowtide::base::concat(__VA_ARGS__)); \
    }                                                                      \
  } while (false)

#define LT_CHECK(condition, ...)                                                  \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ::lowtide::base::throw_check_failure(__FILE__, __LINE__, #condition,        \
                                           ::lowtide::base::concat(__VA_ARGS__)); \
    }                                                                             \
  } while (false)
