// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/policy_cases.h"

namespace lowtide::support {

std::vector<PolicyCase> policy_cases() {
  std::vector<PolicyCase> cases;
  for (const PolicyInfo& row : catalogue()) cases.push_back({row.name, row.name, {}});
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
  };
  cases.insert(cases.end(), variants.begin(), variants.end());
  return cases;
}

}  // namespace lowtide::support
