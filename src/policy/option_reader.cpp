// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/option_reader.h"

#include "base/check.h"
#include "base/numbers.h"

namespace lowtide::policy {

OptionReader::OptionReader(std::string_view policy, const PolicyOptions& options)
    : policy_(policy), options_(options) {}

const std::string* OptionReader::take(const char* name) {
  known_.insert(name);
  const auto found = options_.find(name);
  return found == options_.end() ? nullptr : &found->second;
}

void OptionReader::fail(const char* name, const std::string& text,
                        const std::string& expected) const {
  throw InvalidInput(base::concat("option ", name, " of policy ", policy_, " takes ", expected,
                                  ", not '", text, "'"));
}

double OptionReader::number(const char* name, double fallback, double low, double high) {
  const std::string* text = take(name);
  if (text == nullptr) return fallback;
  const std::optional<double> number = base::parse_number<double>(*text);
  if (number && *number >= low && *number <= high) return *number;
  fail(name, *text, base::concat("a number from ", low, " to ", high));
}

std::int64_t OptionReader::integer(const char* name, std::int64_t fallback, std::int64_t low,
                                   std::int64_t high) {
  const std::string* text = take(name);
  if (text == nullptr) return fallback;
  const std::optional<std::int64_t> number = base::parse_number<std::int64_t>(*text);
  if (number && *number >= low && *number <= high) return *number;
  fail(name, *text, base::concat("a whole number from ", low, " to ", high));
}

void OptionReader::finish() const {
  for (const auto& [name, text] : options_) {
    if (known_.contains(name)) continue;
    std::string known;
    for (const std::string& other : known_) known += (known.empty() ? "" : ", ") + other;
    throw InvalidInput(base::concat("policy ", policy_, " has no option '", name, "'; it has ",
                                    known.empty() ? "none" : known));
  }
}

}  // namespace lowtide::policy
