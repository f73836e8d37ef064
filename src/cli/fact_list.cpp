// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/fact_list.h"

#include <algorithm>

namespace lowtide::cli {
namespace {

constexpr std::size_t kNameColumns = 13;

}  // namespace

void FactList::add(std::string name, const std::string& fact) {
  name.resize(std::max(kNameColumns, name.size() + 1), ' ');
  text_ += bold(name, style_) + fact + "\n";
}

void FactList::add_below(const std::string& fact) {
  text_ += std::string(kNameColumns, ' ') + fact + "\n";
}

}  // namespace lowtide::cli
