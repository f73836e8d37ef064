// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/policy.h"

namespace lowtide::policy {

// Reads a policy's options by name, with a default for each, and refuses what is left over.
// Throws InvalidInput, naming the policy, the option and what it takes.
class OptionReader {
 public:
  OptionReader(std::string_view policy, const PolicyOptions& options);

  double number(const char* name, double fallback, double low, double high);
  std::int64_t integer(const char* name, std::int64_t fallback, std::int64_t low,
                       std::int64_t high);
  // One of several words, each standing for a value of an enumeration.
  template <class Enum>
  Enum choice(const char* name, Enum fallback,
              const std::vector<std::pair<std::string_view, Enum>>& choices) {
    const std::string* text = take(name);
    if (text == nullptr) return fallback;
    std::string known;
    for (const auto& [word, value] : choices) {
      if (*text == word) return value;
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    fail(name, *text, "one of " + known);
  }

  // Requires: called after the last option was read.
  void finish() const;

 private:
  const std::string* take(const char* name);
  [[noreturn]] void fail(const char* name, const std::string& text,
                         const std::string& expected) const;

  std::string policy_;
  const PolicyOptions& options_;
  std::set<std::string> known_;
};

}  // namespace lowtide::policy
