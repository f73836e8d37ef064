// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lowtide/trace.h"

namespace lowtide::estimate {

// A transformer of GPT's or BERT's kind, as the papers of Megatron count it.
struct TransformerSize {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t context = 0;
  std::int64_t vocabulary = 0;
  std::int64_t batch = 0;
  // What the ops of a layer in the midst belong to, such as "h.6"; it and what begins with it.
  std::string middle_layer{};
};

// What the formulas say: a cross-check on estimates, printed beside them.
struct TransformerFigures {
  double parameters = 0;
  // Of a step, forward and backward.
  double flops = 0;
  // Of one layer in 16 bits: with the scores of attention written down, and with these recomputed
  // (selective recomputation) or never written, as today's kernels have it.
  double layer_activation_bytes = 0;
  double selective_activation_bytes = 0;
};

// Parameters and FLOPs: Narayanan et al. 2021, equations 2 and 3 (without recomputation of whole
// layers: 72 in place of 96). Activations: Korthikanti et al. 2022, equation 2 and section 5.
// Requires: no size is below 1.
TransformerFigures transformer_figures(const TransformerSize& size);

// What is in a step, to hold the formulas against: numbers that are trained, the arithmetic of its
// products of matrices and convolutions, and what a layer keeps for the backward pass, copies of
// weights in other types left out.
struct CountedFigures {
  double parameters = 0;
  double flops = 0;
  double layer_activation_bytes = 0;
  // Whether the scores of attention are among these; fused kernels never write them down.
  bool keeps_scores = false;
};
// Of the layer with that name and what begins with it. Requires: parameters are in float32.
CountedFigures counted_figures(const Trace& trace, std::string_view layer);

}  // namespace lowtide::estimate
