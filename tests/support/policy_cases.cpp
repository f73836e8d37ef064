// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/policy_cases.h"

namespace lowtide::support {

namespace {

// A search that goes on for longer finds better plans and shows nothing more.
PolicyOptions options_for(const PolicyInfo& row) {
  if (row.name == "tide") return {{"tries", "24"}};
  return {};
}

}  // namespace

std::vector<PolicyCase> policy_cases() {
  std::vector<PolicyCase> cases;
  for (const PolicyInfo& row : catalogue()) cases.push_back({row.name, row.name, options_for(row)});
  const std::vector<PolicyCase> variants{
      {"evict_all_by_recompute", "evict_all", {{"by", "recompute"}}},
      {"lru_dead_keep", "lru", {{"dead", "keep"}}},
      {"dtr_score_exact", "dtr", {{"score", "exact"}}},
      {"dtr_score_local", "dtr", {{"score", "local"}}},
      {"dtr_dead_keep", "dtr", {{"dead", "keep"}}},
      {"dtr_search_all", "dtr", {{"search", "all"}}},
      {"dtr_search_sqrt", "dtr", {{"search", "sqrt"}, {"seed", "7"}}},
      {"sublinear_segments", "sublinear", {{"form", "segments"}}},
      {"sublinear_recursive", "sublinear", {{"form", "recursive"}, {"branch", "2"}}},
      {"capuchin_published", "capuchin", {{"until", "published"}}},
      {"capuchin_no_swap", "capuchin", {{"swap", "no"}}},
      {"capuchin_no_recompute", "capuchin", {{"recompute", "no"}}},
      {"tide_no_floor", "tide", {{"floor", "no"}, {"tries", "8"}}},
      {"tide_no_swap", "tide", {{"swap", "no"}, {"tries", "8"}}},
      {"tide_no_recompute", "tide", {{"recompute", "no"}, {"tries", "8"}}},
  };
  cases.insert(cases.end(), variants.begin(), variants.end());
  return cases;
}

}  // namespace lowtide::support
