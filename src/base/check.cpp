// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/check.h"

#include <string_view>

namespace lowtide::base {

void throw_check_failure(const char* file, int line, const char* condition,
                         const std::string& message) {
  // The folder of the build machine says nothing to a reader of the message.
  std::string_view path = file;
  if (const auto source = path.rfind("src/"); source != std::string_view::npos) {
    path.remove_prefix(source);
  }
  throw InternalError(concat("internal error, please report it: ", message, " (", condition, ", ",
                             path, ":", line, ")"));
}

}  // namespace lowtide::base
