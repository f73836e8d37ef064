// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/names.h"

#include "base/check.h"

namespace lowtide::trace {

bool is_name(std::string_view name) {
  if (name.empty() || name.front() == '-' || name == "free") return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    // Plain ASCII, so that JSON files are always valid text.
    if (byte <= ' ' || byte >= 0x7f) return false;
    if (std::string_view(":|~#=\"").find(c) != std::string_view::npos) return false;
  }
  return true;
}

void require_name(std::string_view name, std::string_view what) {
  LT_REQUIRE(is_name(name), "not a valid ", what, " name: '", name,
             "'; use one word without any of : | ~ # = \" and not beginning with '-'");
}

}  // namespace lowtide::trace
