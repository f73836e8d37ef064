// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/suggest.h"
#include "lowtide/decompose.h"

// The texts of lowtide/decompose.h.

namespace lowtide {
namespace {

constexpr Decomposition kMethods[] = {Decomposition::kDense, Decomposition::kSvd,
                                      Decomposition::kTucker2, Decomposition::kCp3,
                                      Decomposition::kCp4};
constexpr std::string_view kReconstructed = " reconstructed";

// "16x24".
std::vector<std::int64_t> parse_ranks(std::string_view text, std::string_view form) {
  std::vector<std::int64_t> ranks;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const std::optional<std::int64_t> rank = base::parse_number<std::int64_t>(text.substr(0, end));
    LT_REQUIRE(rank && *rank >= 1 && end + 1 != text.size(),
               "a form is a method and its ranks, "
               "such as svd 32 or tucker2 16x24, each at least 1, not ",
               form);
    ranks.push_back(*rank);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ranks;
}

}  // namespace

std::string_view to_string(Decomposition method) {
  switch (method) {
    case Decomposition::kDense:
      return "dense";
    case Decomposition::kSvd:
      return "svd";
    case Decomposition::kTucker2:
      return "tucker2";
    case Decomposition::kCp3:
      return "cp3";
    case Decomposition::kCp4:
      return "cp4";
  }
  return "?";
}

std::string to_string(const LayerForm& form) {
  std::string text(to_string(form.method));
  const char* before = " ";
  for (const std::int64_t rank : form.ranks) {
    text += before + std::to_string(rank);
    before = "x";
  }
  return form.is_reconstructed ? text + " reconstructed" : text;
}

Decomposition parse_method(std::string_view name) {
  std::vector<std::string> known;
  for (const Decomposition method : kMethods) {
    if (to_string(method) == name) return method;
    known.emplace_back(to_string(method));
  }
  throw InvalidInput(base::concat("unknown form '", name, "'", base::suggestion(name, known),
                                  "; known are ", base::join(known)));
}

LayerForm parse_form(std::string_view text) {
  LayerForm form;
  std::string_view rest = text;
  if (rest.ends_with(kReconstructed)) {
    form.is_reconstructed = true;
    rest.remove_suffix(kReconstructed.size());
  }
  const std::size_t space = std::min(rest.find(' '), rest.size());
  form.method = parse_method(rest.substr(0, space));
  if (space < rest.size()) form.ranks = parse_ranks(rest.substr(space + 1), text);
  const std::size_t ranks = form.method == Decomposition::kDense     ? 0
                            : form.method == Decomposition::kTucker2 ? 2
                                                                     : 1;
  LT_REQUIRE(form.ranks.size() == ranks, to_string(form.method), " has ", ranks, " rank",
             ranks == 1 ? "" : "s", ", but the form is ", text);
  LT_REQUIRE(ranks > 0 || !form.is_reconstructed, "dense is not reconstructed: ", text);
  return form;
}

}  // namespace lowtide
