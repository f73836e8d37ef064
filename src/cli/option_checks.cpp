// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/option_checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/numbers.h"
#include "base/suggest.h"

namespace lowtide::cli {
namespace {

using base::concat;

// `complain` gives what is wrong with the text, or nothing.
template <class Complain>
CLI::Validator validator(Complain complain) {
  return CLI::Validator([complain](std::string& text) -> std::string { return complain(text); },
                        "");
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return validator([least, most](const std::string& text) -> std::string {
    const auto number = base::parse_number<std::int64_t>(text);
    if (!number || *number < least) {
      return concat("not a whole number of at least ", least, ": '", text, "'");
    }
    return *number > most ? concat("more than ", most, ": '", text, "'") : "";
  });
}

CLI::Validator positive_number(double most) {
  return validator([most](const std::string& text) -> std::string {
    const auto number = base::parse_number<double>(text);
    const bool is_good = number && std::isfinite(*number) && *number > 0;
    if (!is_good) return concat("not a number above 0: '", text, "'");
    return *number > most ? concat("more than ", most, ": '", text, "'") : "";
  });
}

CLI::Validator not_empty() {
  return validator([](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty" : "";
  });
}

CLI::Validator one_of(std::vector<std::string> names) {
  return validator([names = std::move(names)](const std::string& text) -> std::string {
    if (std::find(names.begin(), names.end(), text) != names.end()) return "";
    std::string known = concat("'", names.front(), "'");
    for (std::size_t i = 1; i < names.size(); ++i) {
      known += concat(i + 1 < names.size() ? ", '" : " and '", names[i], "'");
    }
    return concat("unknown '", text, "'; known are ", known, base::suggestion(text, names));
  });
}

}  // namespace lowtide::cli
