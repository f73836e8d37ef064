// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/check.h"
#include "lowtide/policy.h"
#include "policy/factories.h"

namespace lowtide {
namespace {

using namespace policy;

// The options of every policy that is an online rule run by the runner.
std::vector<OptionInfo> online_options(const char* search) {
  return {{"search", search, "how the victim is looked for: indexed, all, sqrt or one"},
          {"ignore_below", "0.01", "leave values below this share of the mean size alone"},
          {"dead", "drop", "drop or keep replayed values that the program has let go of"},
          {"max_replays", "20", "give up after this many replays per op of the step"},
          {"seed", "1", "for the searches that draw at random"}};
}

std::vector<OptionInfo> with(OptionInfo first, std::vector<OptionInfo> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

std::vector<PolicyInfo> baselines() {
  return {
      {.name = "keep_all",
       .paper = "",
       .mechanisms = "none",
       .summary = "evicts nothing: plain training",
       .options = {},
       .make = make_keep_all},
      {.name = "evict_all",
       .paper = "",
       .mechanisms = "recompute+swap",
       .summary = "evicts every value after each use: the stress setting of the tests",
       .options = {{"by", "host", "host (move everything) or recompute (drop what is cheap)"},
                   {"depth", "4", "by=recompute: longest chain of dropped values"}},
       .make = make_evict_all},
      {.name = "belady",
       .paper = "Belady, A study of replacement algorithms for a virtual-storage computer, 1966",
       .mechanisms = "swap",
       .summary = "moves what is not needed for longest, with all next uses known; a baseline",
       .options = {},
       .make = make_belady},
      {.name = "lru",
       .paper = "",
       .mechanisms = "recompute",
       .summary = "drops what was unused for longest; a baseline",
       .options = online_options("indexed"),
       .make = make_lru},
      {.name = "random",
       .paper = "",
       .mechanisms = "recompute",
       .summary = "drops any value; a baseline",
       .options = online_options("one"),
       .make = make_random},
  };
}

std::vector<PolicyInfo> published() {
  return {
      {.name = "vdnn",
       .paper = "Rhu et al., vDNN: virtualized deep neural networks, MICRO 2016",
       .mechanisms = "swap",
       .summary = "moves the inputs of layers until the backward pass comes to the layer above",
       .options = {{"layers", "dynamic",
                    "all, conv, or dynamic: the first that fits of none, conv and all"}},
       .make = make_vdnn},
      {.name = "sublinear",
       .paper = "Chen et al., Training deep nets with sublinear memory cost, 2016",
       .mechanisms = "recompute",
       .summary = "keeps the values between segments of the forward pass, replays the rest",
       .options = {{"form", "auto", "segments, recursive, or auto: whichever fits and costs less"},
                   {"branch", "1",
                    "recursive: cuts kept on each level; auto tries twice as many, and so on"},
                   {"tries", "24", "segments: how many segment sizes are tried"}},
       .make = make_sublinear},
      {.name = "dtr",
       .paper = "Kirisame et al., Dynamic tensor rematerialization, ICLR 2021",
       .mechanisms = "recompute",
       .summary = "online: drops by cost of the evicted neighbourhood, size and staleness",
       .options = with({"score", "classes",
                        "cost around a value: classes (union-find), exact (e*) or local (none)"},
                       online_options("indexed")),
       .make = make_dtr},
      {.name = "capuchin",
       .paper = "Peng et al., Capuchin: tensor-based GPU memory management, ASPLOS 2020",
       .mechanisms = "recompute+swap",
       .summary = "swaps what the link hides, by free time; then the cheaper of swap and replay",
       .options = {{"until", "fits", "fits, or published: stop at the byte count of the paper"},
                   {"swap", "yes", "yes or no: whether values may be moved"},
                   {"recompute", "yes", "yes or no: whether values may be replayed"},
                   {"ignore_below", "0.1",
                    "hidden swaps leave values below this share of the mean size alone"}},
       .make = make_capuchin},
  };
}

std::vector<PolicyInfo> our_own() {
  return {
      {.name = "tide",
       .paper = "",
       .mechanisms = "recompute+swap",
       .summary =
           "copies that compute hides, then replays chosen with the next uses known; searched",
       .options = {{"tries", "360",
                    "runs of the search for a step of a thousand ops; longer ones get fewer"},
                   {"seed", "1", "for the search"},
                   {"swap", "yes", "yes or no: whether values may be moved"},
                   {"recompute", "yes", "yes or no: whether values may be replayed"},
                   {"floor", "yes", "yes or no: whether capuchin, dtr and sublinear plan too"},
                   {"last_resort", "yes",
                    "yes or no: whether belady plans what would be refused otherwise"}},
       .make = make_tide},
  };
}

std::vector<PolicyInfo> make_catalogue() {
  std::vector<PolicyInfo> rows = baselines();
  for (const auto& more : {published(), our_own()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace

const std::vector<PolicyInfo>& catalogue() {
  static const std::vector<PolicyInfo> rows = make_catalogue();
  return rows;
}

const PolicyInfo& policy_named(std::string_view name) {
  std::string known;
  for (const PolicyInfo& row : catalogue()) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + row.name;
  }
  throw InvalidInput(base::concat("unknown policy '", name, "'; known are ", known));
}

}  // namespace lowtide
