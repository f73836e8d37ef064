// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/check.h"
#include "base/suggest.h"
#include "lowtide/policy.h"
#include "policy/catalogue_rows.h"
#include "policy/factories.h"

namespace lowtide {
namespace {

using namespace policy;

std::vector<PolicyInfo> baselines() {
  return {
      {.name = "keep_all",
       .paper = "",
       .mechanisms = "none",
       .summary = "evicts nothing: plain training",
       .does_well = "costs nothing where the step fits",
       .does_badly = "refuses every budget below the plain peak",
       .why = "it evicts nothing",
       .options = {},
       .make = make_keep_all},
      {.name = "evict_all",
       .paper = "",
       .mechanisms = "recompute+swap",
       .summary = "evicts every value after each use: the stress setting of the tests",
       .does_well = "plans down to what the hungriest op needs by itself",
       .does_badly = "more than ten times the step at every budget, large ones too",
       .why = "everything crosses the link after each use, whether there is room or not",
       .needs = {{Need::kHostMemory}, {Need::kReplays, "with by=recompute"}},
       .options = {{"by", "host", "host (move everything) or recompute (drop what is cheap)"},
                   {"depth", "4", "by=recompute: longest chain of dropped values"},
                   {"swap", "yes",
                    "by=recompute: yes or no: whether what is not dropped is moved"}},
       .only_swaps = PolicyOptions{{"by", "host"}},
       .only_recomputes = PolicyOptions{{"by", "recompute"}, {"swap", "no"}},
       .make = make_evict_all},
      {.name = "belady",
       .paper = "Belady, A study of replacement algorithms for a virtual-storage computer, 1966",
       .mechanisms = "swap",
       .summary = "moves what is not needed for longest, with all next uses known; a baseline",
       .does_well = "plans in milliseconds, down to what the hungriest op needs; near the best of "
                    "those that only move",
       .does_badly = "doubles the step of VGG-16, ResNet-50 and GPT-2 at 70 %",
       .why = "next uses say what can be away for longest, not what its copies cost, and the link "
              "is slower than the passes make values",
       .needs = {{Need::kHostMemory}},
       .options = {},
       .make = make_belady},
      {.name = "lru",
       .paper = "",
       .mechanisms = "recompute",
       .summary = "drops what was unused for longest; a baseline",
       .does_well = "within three points of dtr where a tenth has to go",
       .does_badly = "the first online rule to refuse on ResNet-50, DenseNet-121 and the LSTM",
       .why = "age says nothing of what a value costs to make again, so that it drops whole chains",
       .needs = {{Need::kReplays}},
       .options = online_options("indexed"),
       .make = make_lru},
      {.name = "random",
       .paper = "",
       .mechanisms = "recompute",
       .summary = "drops any value; a baseline",
       .does_well = "refuses later than lru on branching nets",
       .does_badly = "dearer than dtr at 90 % on every net",
       .why = "no choice is bad by system, and none is good",
       .needs = {{Need::kReplays}},
       .options = online_options("one"),
       .make = make_random},
  };
}

std::vector<PolicyInfo> published_placement() {
  return {
      {.name = "best_fit",
       .paper =
           "as in Pisarchyk and Lee, Efficient memory management for deep neural net inference, "
           "2020",
       .mechanisms = "place",
       .summary = "evicts nothing; addresses in one arena, largest first to the lowest hole",
       .does_well = "fixed addresses for all storages in at most 4 % more than the bytes that are "
                    "there at once",
       .does_badly = "evicts nothing; simulated only",
       .why = "it looks for holes, the largest block first",
       .needs = {{Need::kPlacement}},
       .options = {{"searched", "8192",
                    "how many blocks look for holes; smaller ones are stacked"}},
       .make = make_best_fit},
      {.name = "pushdown",
       .paper = "MegEngine, static memory allocation, 2020",
       .mechanisms = "place",
       .summary = "evicts nothing; addresses in one arena, ordered in time and pushed down",
       .does_well = "fixed addresses in at most 7 % more than the bytes that are there at once",
       .does_badly = "evicts nothing; simulated only",
       .why = "it places blocks in the order of time, and widens what lies below others",
       .needs = {{Need::kPlacement}},
       .options = {},
       .make = make_pushdown},
  };
}

std::vector<PolicyInfo> our_own() {
  return {
      {.name = "tide",
       .paper = "",
       .mechanisms = "recompute+swap",
       .summary =
           "hidden copies and replays chosen with all next uses known; a search makes them better",
       .does_well =
           "least added time of all that can be carried out, on every recorded step and at "
           "nearly every budget",
       .does_badly = "plans for seconds; close to its smallest budgets copies show; measured, "
                     "dtr_megengine is ahead on ResNet-50 and knapsack on DenseNet-121 at 35 %",
       .why = "it weighs moves and replays of each value by the simulator, which knows neither "
              "memory in pieces nor how much the host wavers",
       .needs = {{Need::kReplays},
                 {Need::kHostMemory},
                 {Need::kImplementations,
                  "by its floor, where a trace has several algorithms of a convolution"}},
       .options =
           {{"tries", "360",
             "how long it searches: runs of a step of a thousand ops; longer steps get fewer"},
            {"seed", "1", "for the search"},
            {"swap", "yes", "yes or no: whether values may be moved"},
            {"recompute", "yes", "yes or no: whether values may be replayed"},
            {"floor", "yes",
             "yes, no or all: whether the other executable policies plan too (all: checkmate as "
             "well, which can take minutes)"},
            {"last_resort", "yes",
             "yes or no: whether policies whose copies show plan what would be refused otherwise"}},
       .only_swaps = PolicyOptions{{"recompute", "no"}},
       .only_recomputes = PolicyOptions{{"swap", "no"}},
       .make = make_tide},
  };
}

std::vector<PolicyInfo> make_catalogue() {
  std::vector<PolicyInfo> rows = baselines();
  for (const auto& more :
       {published_layer_swaps(), published_swaps(), published_tier_swaps(), published_chains(),
        published_replays(), published_online(), published_saved_sets(), published_hybrids(),
        published_placement(), our_own()})
    rows.insert(rows.end(), more.begin(), more.end());
  for (PolicyInfo& row : rows) {
    row.executable = std::all_of(row.needs.begin(), row.needs.end(), [](const PolicyNeed& need) {
      return engine_has(need.need) || !need.when.empty();
    });
  }
  return rows;
}

}  // namespace

std::string_view to_string(Need need) {
  switch (need) {
    case Need::kReplays:
      return "replays";
    case Need::kHostMemory:
      return "host memory";
    case Need::kDisk:
      return "disk";
    case Need::kSolver:
      return "HiGHS";
    case Need::kCodecs:
      return "codecs";
    case Need::kImplementations:
      return "a choice of implementations";
    case Need::kSplit:
      return "sub-batches";
    case Need::kOrder:
      return "another order of ops";
    case Need::kPlacement:
      return "placement";
  }
  return "";
}

bool engine_has(Need need) {
  switch (need) {
    case Need::kReplays:
    case Need::kHostMemory:
    case Need::kDisk:
    case Need::kSolver:
      return true;
    case Need::kCodecs:
    case Need::kImplementations:
    case Need::kSplit:
    case Need::kOrder:
    case Need::kPlacement:
      return false;
  }
  return false;
}

const std::vector<PolicyInfo>& catalogue() {
  static const std::vector<PolicyInfo> rows = make_catalogue();
  return rows;
}

const PolicyInfo& policy_named(std::string_view name) {
  LT_REQUIRE(
      name != "ctdr",
      "ctdr changes what a model computes, so it is no policy and happens on request only: "
      "use 'lowtide decompose MODEL --budget SIZE -o FILE', then train with --weights FILE and "
      "any policy");
  std::vector<std::string> known;
  for (const PolicyInfo& row : catalogue()) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  throw InvalidInput(base::concat("unknown policy '", name, "'; known are ", base::join(known),
                                  base::suggestion(name, known)));
}

}  // namespace lowtide
