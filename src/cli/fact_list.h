// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/console.h"

namespace lowtide::cli {

// Lines "name   fact" with the facts under each other and the names in bold.
class FactList {
 public:
  explicit FactList(const Style& style) : style_(style) {}

  void add(std::string name, const std::string& fact);
  // A further line under the last name.
  void add_below(const std::string& fact);
  const std::string& text() const { return text_; }

 private:
  Style style_;
  std::string text_;
};

}  // namespace lowtide::cli
