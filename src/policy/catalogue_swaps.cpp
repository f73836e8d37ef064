// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Published policies that move values.
#include "policy/catalogue_rows.h"
#include "policy/factories.h"

namespace lowtide::policy {
namespace {

// Of policies that choose the algorithms of convolutions.
OptionInfo algorithm_option() {
  return {"algo", "dynamic",
          "of convolutions: performance, memory, or dynamic: the quickest that fit"};
}

}  // namespace

std::vector<PolicyInfo> published_layer_swaps() {
  return {
      {.name = "vdnn",
       .paper = "Rhu et al., vDNN: virtualized deep neural networks, MICRO 2016",
       .mechanisms = "swap",
       .summary = "moves the inputs of layers until the backward pass comes to the layer above",
       .does_well = "needs no times, plans in milliseconds, and reaches small budgets on ResNet-50 "
                    "and DenseNet-121",
       .does_badly = "the same large price at 90 % as at 70 % on ResNet-50, DenseNet-121 and "
                     "GPT-2; nothing below 93 % on the LSTM",
       .why =
           "it moves the inputs of all layers, or of all convolutions, as soon as one has to leave",
       .needs = {{Need::kHostMemory}, {Need::kImplementations, kAlgorithms}},
       .options = {{"layers", "dynamic",
                    "all, conv, or dynamic: the first that fits of none, conv and all"},
                   algorithm_option()},
       .make = make_vdnn},
      {.name = "vdnn_pp",
       .paper = "Shriram et al., Dynamic memory management for GPU-based training (vDNN++), "
                "IPDPS 2019",
       .mechanisms = "swap",
       .summary = "vdnn that moves no more than it must and has each input back in time",
       .does_well = "little at 90 % on ResNet-50, DenseNet-121 and GPT-2",
       .does_badly = "doubles ResNet-50's and GPT-2's step at 70 %; nothing below 92 % on the LSTM",
       .why = "it moves what it must, but only inputs of layers, and only over the link",
       .needs = {{Need::kHostMemory}, {Need::kImplementations, kAlgorithms}},
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
       .does_well = "nearly free at 90 % on branching nets and GPT-2, where each copy finds idle "
                    "time of the link",
       .does_badly = "as other moves once that is used up; refuses 80 % on VGG-16 and the LSTM",
       .why = "it fits copies in one by one, and moves only what the forward pass saves",
       .needs = {{Need::kHostMemory},
                 {Need::kImplementations, kAlgorithms},
                 {Need::kSplit, "with lowtide plan --split"}},
       .options = {{"offload", "yes", "yes or no: whether values may be moved"},
                   {"choose", "yes", "yes or no: whether convolutions may get leaner algorithms"}},
       .make = make_modnn},
  };
}

std::vector<PolicyInfo> published_swaps() {
  return {
      {.name = "autotm",
       .paper = "Hildebrand et al., AutoTM: automatic tensor movement in heterogeneous memory "
                "systems, ASPLOS 2020",
       .mechanisms = "swap",
       .summary = "synchronous and asynchronous moves, by integer programming",
       .does_well = "DenseNet-121 at 80 % and GPT-2 at 40 %, where nothing that can be carried out "
                    "is ahead of it; measured, a little ahead of belady on VGG-16 at 70 and 50 %",
       .does_badly =
           "measured, behind belady on ResNet-50 at 70 and 50 %, and by more than that on "
           "GPT-2 medium at 70 %",
       .why = "its optimum is that of a model: the largest gaps, stretches of the step, and the "
              "best answer when its effort is spent",
       .needs = {{Need::kHostMemory}, {Need::kSolver}},
       .options =
           {{"gaps", "120", "how many of the largest gaps are in the programme"},
            {"stretches", "48", "parts of the step by which the link's time is counted"},
            {"form", "both",
             "moves in the programme: synchronous (the device waits), asynchronous, or both"},
            {"gap", "0.001",
             "the search ends when no answer can be better by more than this share"},
            {"effort", "2000", "iterations of the solver before it takes its best so far"},
            {"seed", "1", "for the solver"}},
       .make = make_autotm},
      {.name = "zero_offload",
       .paper = "Ren et al., ZeRO-Offload: democratizing billion-scale training, ATC 2021",
       .mechanisms = "swap",
       .summary = "keeps gradients and optimizer states in host memory, parameters on the device",
       .does_well = "reaches 81 % of GPT-2, 86 % of the LSTM and 87 % of VGG-16 without touching "
                    "activations",
       .does_badly = "refuses less than 98 % of ResNet-50, DenseNet-121 and U-Net",
       .why = "it moves gradients and states, and most of these nets is activations",
       .needs = {{Need::kHostMemory},
                 {Need::kImplementations, "where the optimizer's ops have one for the host"}},
       .options = {{"optimizer", "auto",
                    "auto (on the host, where its ops have implementations for that) or device"}},
       .make = make_zero_offload},
  };
}

std::vector<PolicyInfo> published_tier_swaps() {
  return {
      {.name = "flashneuron",
       .paper = "Bae et al., FlashNeuron: SSD-enabled large-batch training, FAST 2021",
       .mechanisms = "swap",
       .summary =
           "moves to disk what the forward pass saves, from the first on, until the rest fits",
       .does_well = "measured with host memory in the disk's place, it is like other moves",
       .does_badly = "several times the step at 90 % on convolutional nets and GPT-2",
       .why = "the disk is many times slower than the host's memory, and nothing is replayed",
       .needs = {{Need::kHostMemory},
                 {Need::kDisk, "with to=disk, where the machine has one"},
                 {Need::kCodecs, "where storages name any"}},
       .options = {{"to", "disk", "disk (the last tier) or host (the first)"},
                   {"ignore_below", "0.01",
                    "leave values below this share of the mean size alone"}},
       .make = make_flashneuron},
      {.name = "sentinel",
       .paper = "Ren et al., Sentinel: tensor migration on heterogeneous memory, HPCA 2021",
       .mechanisms = "swap",
       .summary = "migrates by intervals of layers, the longest that fit and hide their copies",
       .does_well = "least of those that only move on the LSTM from 90 to 70 %; plans nearly as "
                    "far down as belady",
       .does_badly = "about as dear as belady on all other nets",
       .why = "what leaves is back an interval early, which takes room, and the link is the limit "
              "anyway",
       .needs = {{Need::kHostMemory}, {Need::kPlacement, "with pools=yes"}},
       .options = {{"interval", "0",
                    "layers of a migration interval; 0: the most that fit and hide their copies"},
                   {"pools", "no", "yes or no: whether the plan says which values lie together"}},
       .make = make_sentinel},
      {.name = "swapadvisor",
       .paper = "Huang et al., SwapAdvisor: beyond the GPU memory limit by swapping, ASPLOS 2020",
       .mechanisms = "swap",
       .summary = "a genetic search over orders of ops and pools of slots; swaps by next use",
       .does_well = "never needs a larger budget than belady, whose plan is among those it rates",
       .does_badly = "dearer than belady at 90 % on every net; simulated only",
       .why = "slots of equal size cost room that the simulator gives nothing for, and thousands "
              "of ops leave its search few generations",
       .needs = {{Need::kHostMemory}, {Need::kOrder}, {Need::kPlacement, "with pools=yes"}},
       .options =
           {{"population", "16", "how many plans live at once"},
            {"generations", "20",
             "of the search for a step of a thousand ops; longer ones get fewer"},
            {"mutation", "0.5", "share of children that are mutated"},
            {"selection", "rank",
             "parents are drawn by rank, or by roulette: in inverse proportion to step time"},
            {"reach", "50", "how many places an op moves at most"},
            {"pools", "yes", "yes or no: whether storages lie in pools of equal slots"},
            {"seed", "1", "for the search"}},
       .make = make_swapadvisor},
  };
}

}  // namespace lowtide::policy
