// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Published policies that replay ops, and those that do both.
#include "policy/catalogue_rows.h"
#include "policy/factories.h"

namespace lowtide::policy {
namespace {

std::vector<OptionInfo> with(OptionInfo first, std::vector<OptionInfo> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

}  // namespace

std::vector<OptionInfo> online_options(const char* search) {
  return {{"search", search, "how the victim is looked for: indexed, all, sqrt or one"},
          {"ignore_below", "0.01", "leave values below this share of the mean size alone"},
          {"dead", "drop", "drop or keep replayed values that the program has let go of"},
          {"max_replays", "20", "give up after this many replays per op of the step"},
          {"seed", "1", "for the searches that draw at random"}};
}

std::vector<PolicyInfo> published_chains() {
  return {
      {.name = "sublinear",
       .paper = "Chen et al., Training deep nets with sublinear memory cost, 2016",
       .mechanisms = "recompute",
       .summary = "keeps the values between segments of the forward pass, replays the rest",
       .does_well = "one price over many budgets: 13.7 % on DenseNet-121 from 90 to 50 %",
       .does_badly = "replays whole segments where a few values would do; where no cut fits, its "
                     "recursive form takes several times the step",
       .why = "a cut keeps what crosses it and replays all else, also what nobody had to drop",
       .needs = {{Need::kReplays}},
       .options = {{"form", "auto", "segments, recursive, or auto: whichever fits and costs less"},
                   {"branch", "1",
                    "recursive: cuts kept on each level; auto tries twice as many, and so on"},
                   {"tries", "24", "segments: how many segment sizes are tried"}},
       .make = make_sublinear},
      {.name = "rotor",
       .paper = "Beaumont et al., Optimal checkpointing for heterogeneous chains, 2019",
       .mechanisms = "recompute",
       .summary = "the cheapest replays of a chain of stages, by dynamic programming",
       .does_well = "DenseNet-121 at half its memory; measured, GPT-2 medium at 50 %, next to tide",
       .does_badly = "U-Net, of which it refuses less than 72 %; dearer than dtr on ResNet-50 and "
                     "DenseNet-121",
       .why = "optimal for chains: a value that skips over stages is kept as a whole",
       .needs = {{Need::kReplays}},
       .options = {{"stages", "64", "the most stages into which the forward pass is cut"},
                   {"slots", "500", "units in which memory is counted"}},
       .make = make_rotor},
  };
}

std::vector<PolicyInfo> published_replays() {
  return {
      {.name = "checkmate",
       .paper = "Jain et al., Checkmate: breaking the memory wall with optimal tensor "
                "rematerialization, MLSys 2020",
       .mechanisms = "recompute",
       .summary = "the cheapest replays of a small step, by integer programming",
       .does_well = "exact for steps of a few dozen ops, as a measure for others",
       .does_badly = "refuses all recorded steps",
       .why = "its questions grow with the square of the ops",
       .needs = {{Need::kReplays}, {Need::kSolver}},
       .options = {{"most_choices", "3000", "programmes with more yes-or-no questions are large"},
                   {"large", "refuse",
                    "large programmes: refuse, or round (solve them in fractions and round these)"},
                   {"most_fractions", "30000", "large=round: still larger ones are refused"},
                   {"allowance", "0.1",
                    "large=round: the share of the budget that the fractions leave free, at first"},
                   {"gap", "0.0001",
                    "the search ends when no answer can be better by more than this share"},
                   {"effort", "20000", "iterations of the solver before it takes its best so far"},
                   {"seed", "1", "for the solver"}},
       .make = make_checkmate},
      {.name = "dtr",
       .paper = "Kirisame et al., Dynamic tensor rematerialization, ICLR 2021",
       .mechanisms = "recompute",
       .summary = "online: drops by cost of the evicted neighbourhood, size and staleness",
       .does_well = "nothing to plan; the best but tide on U-Net from 80 to 60 %",
       .does_badly = "a fifth of the step on the LSTM and GPT-2 at 70 %",
       .why = "it sees the past only, and cannot touch parameters and states",
       .needs = {{Need::kReplays}},
       .options = with({"score", "classes",
                        "cost around a value: classes (union-find), exact (e*) or local (none)"},
                       online_options("indexed")),
       .make = make_dtr},
  };
}

std::vector<PolicyInfo> published_online() {
  std::vector<OptionInfo> megengine = online_options("indexed");
  const std::vector<OptionInfo> exponents = {
      {"a", "1", "exponent of the cost"},
      {"b", "1", "exponent of the bytes, free ones beside the value included"},
      {"d", "1", "exponent of the staleness"},
      {"p", "1.0001", "factor for each time the value was replayed before"},
      {"least", "1e-3", "added to cost and staleness, in units"},
      {"unit", "1e-4", "seconds that the score counts as 1"}};
  megengine.insert(megengine.begin(), exponents.begin(), exponents.end());
  return {
      {.name = "dtr_megengine",
       .paper = "Kirisame et al., ICLR 2021, as MegEngine has it",
       .mechanisms = "recompute",
       .summary = "online: dtr with powers of cost, size and age; counts free bytes beside a value",
       .does_well = "as dtr, a little better on ResNet-50 and DenseNet-121 at half their memory; "
                    "measured, the best on ResNet-50 at 35 %",
       .does_badly = "a little dearer than dtr on U-Net at half and GPT-2 at 80 %",
       .why = "free bytes beside a value count, which helps where memory is in pieces and misleads "
              "where it is not",
       .needs = {{Need::kReplays}},
       .options = megengine,
       .make = make_dtr_megengine},
      {.name = "coop",
       .paper = "Zhang et al., Coop: memory is not a commodity, NeurIPS 2023",
       .mechanisms = "recompute",
       .summary = "online: drops the cheapest row of neighbours in memory, cheap ones at one end",
       .does_well = "memory in pieces: measured, ahead of dtr on DenseNet-121 at 35 %",
       .does_badly = "dearest of the online rules on VGG-16 and GPT-2 at 90 %",
       .why = "neighbours in memory go together, dear ones with cheap ones",
       .needs = {{Need::kReplays}},
       .options = {{"cheap_below", "1",
                    "cheap are values below this share of the mean seconds a byte"},
                   {"pieces", "4096", "a search for a row looks at this many pieces at most"},
                   {"dead", "drop", "drop or keep replayed values that the program has let go of"},
                   {"max_replays", "20", "give up after this many replays per op of the step"}},
       .make = make_coop},
  };
}

std::vector<PolicyInfo> published_saved_sets() {
  return {
      {.name = "selective",
       .paper =
           "Korthikanti et al., Reducing activation recomputation in large transformer models, "
           "MLSys 2023",
       .mechanisms = "recompute",
       .summary = "replays the cores of attention layers; nothing for nets without attention",
       .does_well = "attention that keeps its scores, at no more than their replays",
       .does_badly = "refuses less than 88 % of GPT-2, and everything of nets without attention",
       .why = "fused attention keeps no scores, so that there is little left to drop",
       .needs = {{Need::kReplays}},
       .options =
           {{"parts", "auto",
             "core, cheap (other cheap ops too), all (results of attention too), or auto: the "
             "first that fits of none and these"}},
       .make = make_selective},
      {.name = "knapsack",
       .paper = "PyTorch, min-cut partitioner with an activation memory budget, 2024",
       .mechanisms = "recompute",
       .summary = "keeps a cheapest cut of the forward graph; a knapsack lifts bans on replays",
       .does_well = "DenseNet-121: one cut fits from 90 to 30 %; measured, the best there at 35 %",
       .does_badly = "dear while little has to go, and many times the step on the LSTM at 70 %",
       .why = "the cut makes least what is kept between the passes, not the peak, and all else is "
              "replayed also where few bytes are missing",
       .needs = {{Need::kReplays}},
       .options = {{"solver", "dp", "of the knapsack: dp, or greedy (by seconds saved a byte)"},
                   {"slots", "10000", "resolution of the knapsack, solver=dp"},
                   {"distance", "1.1",
                    "factor of a kept byte's price for each op from it to the backward pass"},
                   {"reduction", "4",
                    "ops that read so many times what they write are reductions, banned at first"},
                   {"shares", "16", "how many shares of kept bytes are tried"}},
       .make = make_knapsack},
  };
}

std::vector<PolicyInfo> published_hybrids() {
  return {
      {.name = "pofo",
       .paper = "Beaumont et al., Efficient combination of rematerialization and offloading for "
                "training DNNs, NeurIPS 2021",
       .mechanisms = "recompute+swap",
       .summary = "rotor with stages whose values are moved, as far as the link keeps up",
       .does_well = "better than rotor where the link has time, as on ResNet-50 and GPT-2; "
                    "measured, the best on DenseNet-121 at 70 and 50 %",
       .does_badly = "U-Net, of which it refuses less than 72 %, and VGG-16 at 90 %",
       .why = "what it moves needs no replay; skips are kept as a whole, as by rotor",
       .needs = {{Need::kReplays}, {Need::kHostMemory}},
       .options = {{"stages", "32", "the most stages into which the forward pass is cut"},
                   {"slots", "150", "units in which memory is counted"},
                   {"backlog", "32", "steps in which copies that wait for the link are counted"}},
       .make = make_pofo},
      {.name = "capuchin",
       .paper = "Peng et al., Capuchin: tensor-based GPU memory management, ASPLOS 2020",
       .mechanisms = "recompute+swap",
       .summary = "swaps what the link hides, by free time; then the cheaper of swap and replay",
       .does_well = "within three points of tide at 90 and 80 % on ResNet-50, DenseNet-121, the "
                    "LSTM and GPT-2",
       .does_badly = "VGG-16 at 80 %, ResNet-50 and DenseNet-121 at 30 %",
       .why = "it fills the idle time of the link first; when that is gone it replays chains for "
              "one reader at a time, and then moves what shows",
       .needs = {{Need::kReplays}, {Need::kHostMemory}},
       .options = {{"until", "fits", "fits, or published: stop at the byte count of the paper"},
                   {"swap", "yes", "yes or no: whether values may be moved"},
                   {"recompute", "yes", "yes or no: whether values may be replayed"},
                   {"ignore_below", "0.1",
                    "hidden swaps leave values below this share of the mean size alone"}},
       .only_swaps = PolicyOptions{{"recompute", "no"}},
       .only_recomputes = PolicyOptions{{"swap", "no"}},
       .make = make_capuchin},
      {.name = "superneurons",
       .paper = "Wang et al., SuperNeurons: dynamic GPU memory management, PPoPP 2018",
       .mechanisms = "recompute+swap",
       .summary = "moves what convolutions make, longest unused first; replays cheap layers",
       .does_well = "the LSTM at 90 and 80 %, where it drops only what nobody reads again; ahead "
                    "of what only replays on VGG-16 at 90 %",
       .does_badly = "ResNet-50 below 70 %, GPT-2 from 80 % on",
       .why = "it drops whole segments of cheap layers, and moves results of convolutions when "
              "these are used up",
       .needs = {{Need::kReplays}, {Need::kHostMemory}, {Need::kImplementations, kAlgorithms}},
       .options = {{"offload", "yes", "yes or no: whether values may be moved"},
                   {"recompute", "yes", "yes or no: whether cheap layers may be replayed"},
                   {"segments", "cost_aware",
                    "replayed once and kept (speed), for each reader (memory), or by their bytes"}},
       .only_swaps = PolicyOptions{{"recompute", "no"}},
       .only_recomputes = PolicyOptions{{"offload", "no"}},
       .make = make_superneurons},
  };
}

}  // namespace lowtide::policy
