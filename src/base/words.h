// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace lowtide::base {

// The words of a line: runs of characters other than blanks, up to a word that begins with '#'.
std::vector<std::string_view> split_words(std::string_view line);

// The parts of a word between separators; "a::b" has an empty one in the middle.
std::vector<std::string_view> split_on(std::string_view word, char separator);

// Calls `handle` with the words of each line that has any. An InvalidInput that it throws is thrown
// on with the number of the line in front.
void for_each_line(std::string_view text,
                   const std::function<void(const std::vector<std::string_view>&)>& handle);

}  // namespace lowtide::base
