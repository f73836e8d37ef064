// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/policy_cases.h"

namespace lowtide::support {

namespace {

// A search that goes on for longer, or in finer steps, finds better plans and shows nothing more,
// and larger programmes of a solver are no other than small ones.
PolicyOptions options_for(const PolicyInfo& row) {
  if (row.name == "tide") return {{"tries", "8"}};
  if (row.name == "swapadvisor") return {{"population", "3"}, {"generations", "2"}};
  if (row.name == "rotor") return {{"slots", "200"}};
  if (row.name == "pofo") return {{"slots", "80"}, {"backlog", "16"}};
  if (row.name == "checkmate") return {{"most_choices", "150"}, {"effort", "500"}};
  if (row.name == "autotm") return {{"gaps", "24"}, {"effort", "50"}};
  return {};
}

}  // namespace

std::vector<PolicyCase> policy_cases() {
  std::vector<PolicyCase> cases;
  for (const PolicyInfo& row : catalogue()) cases.push_back({row.name, row.name, options_for(row)});
  const std::vector<PolicyCase> variants{
      {"evict_all_by_recompute", "evict_all", {{"by", "recompute"}}},
      {"evict_all_without_swaps", "evict_all", {{"by", "recompute"}, {"swap", "no"}}},
      {"lru_dead_keep", "lru", {{"dead", "keep"}}},
      {"dtr_score_exact", "dtr", {{"score", "exact"}}},
      {"dtr_score_local", "dtr", {{"score", "local"}}},
      {"dtr_dead_keep", "dtr", {{"dead", "keep"}}},
      {"dtr_search_all", "dtr", {{"search", "all"}}},
      {"dtr_search_sqrt", "dtr", {{"search", "sqrt"}, {"seed", "7"}}},
      {"dtr_megengine_squares", "dtr_megengine", {{"b", "2"}, {"d", "2"}, {"max_replays", "2"}}},
      {"coop_one_end", "coop", {{"cheap_below", "0"}, {"pieces", "64"}, {"max_replays", "2"}}},
      {"selective_all", "selective", {{"parts", "all"}}},
      {"knapsack_greedy", "knapsack", {{"solver", "greedy"}, {"distance", "1"}, {"shares", "4"}}},
      {"checkmate_rounded",
       "checkmate",
       {{"most_choices", "1"}, {"large", "round"}, {"most_fractions", "150"}, {"effort", "500"}}},
      {"autotm_synchronous", "autotm", {{"form", "synchronous"}, {"gaps", "24"}, {"effort", "50"}}},
      {"autotm_asynchronous",
       "autotm",
       {{"form", "asynchronous"}, {"gaps", "24"}, {"effort", "50"}}},
      {"sentinel_interval", "sentinel", {{"interval", "2"}}},
      {"knapsack_coarse", "knapsack", {{"slots", "50"}, {"shares", "3"}}},
      {"sublinear_segments", "sublinear", {{"form", "segments"}}},
      {"sublinear_recursive", "sublinear", {{"form", "recursive"}, {"branch", "2"}}},
      {"rotor_coarse", "rotor", {{"stages", "8"}, {"slots", "60"}}},
      {"pofo_coarse", "pofo", {{"stages", "8"}, {"slots", "60"}, {"backlog", "6"}}},
      {"capuchin_published", "capuchin", {{"until", "published"}}},
      {"capuchin_no_swap", "capuchin", {{"swap", "no"}}},
      {"capuchin_no_recompute", "capuchin", {{"recompute", "no"}}},
      {"vdnn_conv_memory", "vdnn", {{"layers", "conv"}, {"algo", "memory"}}},
      {"vdnn_pp_moves_all", "vdnn_pp", {{"moves", "all"}, {"lead", "2"}}},
      {"modnn_no_offload", "modnn", {{"offload", "no"}}},
      {"superneurons_no_offload", "superneurons", {{"offload", "no"}, {"segments", "memory"}}},
      {"superneurons_no_recompute", "superneurons", {{"recompute", "no"}}},
      {"superneurons_speed", "superneurons", {{"segments", "speed"}}},
      {"tide_no_floor", "tide", {{"floor", "no"}, {"tries", "4"}}},
      {"tide_no_swap", "tide", {{"swap", "no"}, {"tries", "4"}}},
      {"tide_no_recompute", "tide", {{"recompute", "no"}, {"tries", "4"}}},
      {"zero_offload_on_device", "zero_offload", {{"optimizer", "device"}}},
      {"flashneuron_to_host", "flashneuron", {{"to", "host"}, {"ignore_below", "0"}}},
      {"sentinel_pools", "sentinel", {{"pools", "yes"}}},
      {"swapadvisor_no_pools",
       "swapadvisor",
       {{"pools", "no"}, {"population", "3"}, {"generations", "1"}, {"seed", "2"}}},
  };
  cases.insert(cases.end(), variants.begin(), variants.end());
  return cases;
}

}  // namespace lowtide::support
