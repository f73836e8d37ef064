// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace lowtide::base {
namespace {

// Letters to insert, delete, replace or swap with their neighbour to get from one word to the
// other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

}  // namespace

std::string suggestion(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestTyped = 64;
  if (typed.size() > kLongestTyped) return "";
  // A third of the letters may be wrong, and one letter in any case.
  std::size_t best = std::max<std::size_t>(1, typed.size() / 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& name : known) {
    const bool is_start = typed.size() >= 2 && name.starts_with(typed);
    const std::size_t distance = is_start ? 1 : edit_distance(typed, name);
    if (distance >= best) continue;
    best = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : concat("; did you mean '", *nearest, "'?");
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace lowtide::base
