// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/warn.h"

#include <cstdlib>
#include <iostream>

#include "base/check.h"

namespace lowtide::session {

void warn(const std::string& text) {
  const char* rank = std::getenv("RANK");
  const std::string name = rank == nullptr ? "lowtide" : base::concat("lowtide[", rank, "]");
  std::cerr << base::concat(name, ": ", text, "\n");
}

}  // namespace lowtide::session
