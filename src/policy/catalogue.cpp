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

// Of policies that choose the algorithms of convolutions.
OptionInfo algorithm_option() {
  return {"algo", "dynamic",
          "of convolutions, where a trace has several (its plans are then for the simulator): "
          "performance, memory, or dynamic: the quickest that fit"};
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

std::vector<PolicyInfo> published_layer_swaps() {
  return {
      {.name = "vdnn",
       .paper = "Rhu et al., vDNN: virtualized deep neural networks, MICRO 2016",
       .mechanisms = "swap",
       .summary = "moves the inputs of layers until the backward pass comes to the layer above",
       .options = {{"layers", "dynamic",
                    "all, conv, or dynamic: the first that fits of none, conv and all"},
                   algorithm_option()},
       .make = make_vdnn},
      {.name = "vdnn_pp",
       .paper = "Shriram et al., Dynamic memory management for GPU-based training (vDNN++), "
                "IPDPS 2019",
       .mechanisms = "swap",
       .summary = "vdnn that moves no more than it must and has each input back in time",
       .options = {{"layers", "dynamic",
                    "alternate (every other convolution), conv, all, or dynamic: the first that "
                    "fits of none and these"},
                   algorithm_option(),
                   {"moves", "needed", "needed, or all: whether the step fits without or not"},
                   {"lead", "1", "a copy back begins so many times its length before its use"}},
       .make = make_vdnn_pp},
      {.name = "modnn",
       .paper = "Chen et al., moDNN: memory optimal DNN training on GPUs, DATE 2018",
       .mechanisms = "swap",
       .summary = "at the fullest op, the move or leaner algorithm that adds least time",
       .options = {{"offload", "yes", "yes or no: whether values may be moved"},
                   {"choose", "yes",
                    "yes or no: whether convolutions may get leaner algorithms, where a trace has "
                    "several (its plans are then for the simulator)"}},
       .make = make_modnn},
  };
}

std::vector<PolicyInfo> published_swaps() {
  return {
      {.name = "autotm",
       .paper = "Hildebrand et al., AutoTM: automatic tensor movement in heterogeneous memory "
                "systems, ASPLOS 2020",
       .mechanisms = "swap",
       .summary = "synchronous and asynchronous moves, by integer programming; needs HiGHS",
       .options = {{"gaps", "120", "how many of the largest gaps are in the programme"},
                   {"stretches", "48", "parts of the step by which the link's time is counted"},
                   {"effort", "2000", "iterations of the solver before it takes its best so far"},
                   {"seed", "1", "for the solver"}},
       .make = make_autotm},
      {.name = "zero_offload",
       .paper = "Ren et al., ZeRO-Offload: democratizing billion-scale training, ATC 2021",
       .mechanisms = "swap",
       .summary = "keeps gradients and optimizer states in host memory, parameters on the device",
       .options = {{"optimizer", "auto",
                    "auto (on the host, where its ops have implementations for that) or device"}},
       .make = make_zero_offload},
      {.name = "flashneuron",
       .paper = "Bae et al., FlashNeuron: SSD-enabled large-batch training, FAST 2021",
       .mechanisms = "swap",
       .summary =
           "moves to disk what the forward pass saves, from the first on, until the rest fits",
       .options = {{"to", "disk", "disk (the last tier) or host (the first)"},
                   {"ignore_below", "0.01",
                    "leave values below this share of the mean size alone"}},
       .make = make_flashneuron},
      {.name = "sentinel",
       .paper = "Ren et al., Sentinel: tensor migration on heterogeneous memory, HPCA 2021",
       .mechanisms = "swap",
       .summary = "migrates by intervals of layers, the longest that fit and hide their copies",
       .options = {{"pools", "no", "yes or no: whether the plan says which values lie together"}},
       .make = make_sentinel},
      {.name = "swapadvisor",
       .paper = "Huang et al., SwapAdvisor: beyond the GPU memory limit by swapping, ASPLOS 2020",
       .mechanisms = "swap",
       .summary = "a genetic search over orders of ops and pools of slots; swaps by next use",
       .options = {{"population", "16", "how many plans live at once"},
                   {"generations", "20",
                    "of the search for a step of a thousand ops; longer ones get fewer"},
                   {"mutation", "0.5", "share of children that are mutated"},
                   {"reach", "50", "how many places an op moves at most"},
                   {"pools", "yes", "yes or no: whether storages lie in pools of equal slots"},
                   {"seed", "1", "for the search"}},
       .executable = false,
       .make = make_swapadvisor},
  };
}

std::vector<PolicyInfo> published_replays() {
  return {
      {.name = "sublinear",
       .paper = "Chen et al., Training deep nets with sublinear memory cost, 2016",
       .mechanisms = "recompute",
       .summary = "keeps the values between segments of the forward pass, replays the rest",
       .options = {{"form", "auto", "segments, recursive, or auto: whichever fits and costs less"},
                   {"branch", "1",
                    "recursive: cuts kept on each level; auto tries twice as many, and so on"},
                   {"tries", "24", "segments: how many segment sizes are tried"}},
       .make = make_sublinear},
      {.name = "rotor",
       .paper = "Beaumont et al., Optimal checkpointing for heterogeneous chains, 2019",
       .mechanisms = "recompute",
       .summary = "the cheapest replays of a chain of stages, by dynamic programming",
       .options = {{"stages", "64", "the most stages into which the forward pass is cut"},
                   {"slots", "500", "units in which memory is counted"}},
       .make = make_rotor},
      {.name = "checkmate",
       .paper = "Jain et al., Checkmate: breaking the memory wall with optimal tensor "
                "rematerialization, MLSys 2020",
       .mechanisms = "recompute",
       .summary = "the cheapest replays of a small step, by integer programming; needs HiGHS",
       .options = {{"most_choices", "3000", "larger programmes are refused"},
                   {"effort", "20000", "iterations of the solver before it takes its best so far"},
                   {"seed", "1", "for the solver"}},
       .make = make_checkmate},
      {.name = "dtr",
       .paper = "Kirisame et al., Dynamic tensor rematerialization, ICLR 2021",
       .mechanisms = "recompute",
       .summary = "online: drops by cost of the evicted neighbourhood, size and staleness",
       .options = with({"score", "classes",
                        "cost around a value: classes (union-find), exact (e*) or local (none)"},
                       online_options("indexed")),
       .make = make_dtr},
  };
}

std::vector<PolicyInfo> published_hybrids() {
  return {
      {.name = "pofo",
       .paper = "Beaumont et al., Efficient combination of rematerialization and offloading for "
                "training DNNs, NeurIPS 2021",
       .mechanisms = "recompute+swap",
       .summary = "rotor with stages whose values are moved, as far as the link keeps up",
       .options = {{"stages", "32", "the most stages into which the forward pass is cut"},
                   {"slots", "150", "units in which memory is counted"},
                   {"backlog", "32", "steps in which copies that wait for the link are counted"}},
       .make = make_pofo},
      {.name = "capuchin",
       .paper = "Peng et al., Capuchin: tensor-based GPU memory management, ASPLOS 2020",
       .mechanisms = "recompute+swap",
       .summary = "swaps what the link hides, by free time; then the cheaper of swap and replay",
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
       .options = {{"offload", "yes", "yes or no: whether values may be moved"},
                   {"recompute", "yes", "yes or no: whether cheap layers may be replayed"},
                   {"segments", "cost_aware",
                    "replayed once and kept (speed), for each reader (memory), or by their bytes"}},
       .only_swaps = PolicyOptions{{"recompute", "no"}},
       .only_recomputes = PolicyOptions{{"offload", "no"}},
       .make = make_superneurons},
  };
}

std::vector<PolicyInfo> published_online() {
  std::vector<OptionInfo> megengine = online_options("indexed");
  const std::vector<OptionInfo> exponents = {
      {"a", "1", "exponent of the cost"},
      {"b", "1", "exponent of the bytes, free ones beside the value included"},
      {"d", "1", "exponent of the staleness"},
      {"p", "1.0001", "factor for each time the value was replayed before"},
      {"unit", "1e-4", "seconds that the score counts as 1"}};
  megengine.insert(megengine.begin(), exponents.begin(), exponents.end());
  return {
      {.name = "dtr_megengine",
       .paper = "Kirisame et al., ICLR 2021, as MegEngine has it",
       .mechanisms = "recompute",
       .summary = "online: dtr with powers of cost, size and age; counts free bytes beside a value",
       .options = megengine,
       .make = make_dtr_megengine},
      {.name = "coop",
       .paper = "Zhang et al., Coop: memory is not a commodity, NeurIPS 2023",
       .mechanisms = "recompute",
       .summary = "online: drops the cheapest row of neighbours in memory, cheap ones at one end",
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
       .options =
           {{"parts", "auto",
             "core, cheap (other cheap ops too), all (results of attention too), or auto: the "
             "first that fits of none and these"}},
       .make = make_selective},
      {.name = "knapsack",
       .paper = "PyTorch, min-cut partitioner with an activation memory budget, 2024",
       .mechanisms = "recompute",
       .summary = "keeps a cheapest cut of the forward graph; a knapsack lifts bans on replays",
       .options = {{"slots", "10000", "resolution of the knapsack"},
                   {"shares", "16", "how many shares of kept bytes are tried"}},
       .make = make_knapsack},
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
       .options = {{"searched", "8192",
                    "how many blocks look for holes; smaller ones are stacked"}},
       .executable = false,
       .make = make_best_fit},
      {.name = "pushdown",
       .paper = "MegEngine, static memory allocation, 2020",
       .mechanisms = "place",
       .summary = "evicts nothing; addresses in one arena, ordered in time and pushed down",
       .options = {},
       .executable = false,
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
       .options =
           {{"tries", "360",
             "how long it searches: runs of a step of a thousand ops; longer steps get fewer"},
            {"seed", "1", "for the search"},
            {"swap", "yes", "yes or no: whether values may be moved"},
            {"recompute", "yes", "yes or no: whether values may be replayed"},
            {"floor", "yes",
             "yes, no or all: whether the other executable policies plan too (all: slow ones as "
             "well)"},
            {"last_resort", "yes",
             "yes or no: whether belady plans what would be refused otherwise"}},
       .only_swaps = PolicyOptions{{"recompute", "no"}},
       .only_recomputes = PolicyOptions{{"swap", "no"}},
       .make = make_tide},
  };
}

std::vector<PolicyInfo> make_catalogue() {
  std::vector<PolicyInfo> rows = baselines();
  for (const auto& more :
       {published_layer_swaps(), published_swaps(), published_replays(), published_online(),
        published_saved_sets(), published_hybrids(), published_placement(), our_own()})
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
