// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/names.h"

#include "report/places.h"

namespace lowtide::report {
namespace {

constexpr std::size_t kLongestName = 160;

}  // namespace

std::string shortened(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  // Bytes after the first of a character are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::int64_t Names::text(const std::string& text) {
  const auto [found, is_new] =
      numbers_.try_emplace(shortened(text, kLongestName), static_cast<std::int64_t>(texts_.size()));
  if (is_new) texts_.push_back(found->first);
  return found->second;
}

std::int64_t Names::op(OpId op) {
  const std::string key = std::to_string(op.index);
  if (!op.valid() || op >= trace_.end() || ops_.contains(key)) return op.index;
  const Op& named = trace_.op(op);
  ops_[key] = {text(named.name), text(named.layer), static_cast<int>(named.phase)};
  return op.index;
}

std::int64_t Names::value(ValueId value) {
  return text(trace_.value_name(value) + " (" + place_of(trace_, trace_.value(value).storage) +
              ")");
}

}  // namespace lowtide::report
