// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/words.h"

#include "base/check.h"

namespace lowtide::base {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size() || line[at] == '#') break;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::vector<std::string_view> split_on(std::string_view word, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = word.find(separator, begin);
    parts.push_back(word.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

void for_each_line(std::string_view text,
                   const std::function<void(const std::vector<std::string_view>&)>& handle) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::vector<std::string_view> words = split_words(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (words.empty()) continue;
    try {
      handle(words);
    } catch (const InvalidInput& error) {
      throw InvalidInput(concat("line ", number, ": ", error.what()));
    }
  }
}

}  // namespace lowtide::base
