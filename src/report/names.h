// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "lowtide/trace.h"

namespace lowtide::report {

// No text of a page is longer, names are shorter.
inline constexpr std::size_t kLongestText = 400;

// Cut at the end of a character if it is longer than so many bytes.
std::string shortened(const std::string& text, std::size_t most_bytes);

// The names on a page, each of them once; others refer to them by number.
class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace) {}

  // What is longer than a line is cut.
  std::int64_t text(const std::string& text);
  // The number of the op itself; its name, layer and phase are kept for the page.
  std::int64_t op(OpId op);
  // "name.version (layer)".
  std::int64_t value(ValueId value);

  // ["text", ...], and {"12": [name, layer, phase], ...}.
  const nlohmann::json& texts() const { return texts_; }
  const nlohmann::json& ops() const { return ops_; }

 private:
  const Trace& trace_;
  std::unordered_map<std::string, std::int64_t> numbers_;
  nlohmann::json texts_ = nlohmann::json::array();
  nlohmann::json ops_ = nlohmann::json::object();
};

}  // namespace lowtide::report
