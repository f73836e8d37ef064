// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/file_kind.h"

#include <system_error>

#include "base/check.h"

namespace lowtide::zoo {

std::filesystem::file_type kind_at(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_type kind = std::filesystem::status(path, error).type();
  if (error && kind != std::filesystem::file_type::not_found) {
    throw IoError(base::concat("cannot open ", path.string(), ": ", error.message()));
  }
  return kind;
}

}  // namespace lowtide::zoo
