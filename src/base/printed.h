// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

namespace lowtide::base {

// What printf would print; no more than 255 characters of it.
template <class... Values>
std::string printed(const char* form, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

}  // namespace lowtide::base
