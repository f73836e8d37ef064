// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>

#include "zoo/model.h"

// A language model in the style of GPT-2 (Radford et al. 2019): blocks that normalise first,
// learned positions, and a head that is the embedding turned round. Attention is torch's fused one.

namespace lowtide::zoo {

struct GptOptions {
  std::int64_t layers = 12;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t context = 1024;
  std::int64_t vocabulary = 50257;
  double dropout = 0.1;

  // 354,823,168 parameters.
  static GptOptions medium() { return {.layers = 24, .width = 1024, .heads = 16}; }
  static GptOptions large() { return {.layers = 36, .width = 1280, .heads = 20}; }
  // 1,557,611,200 parameters.
  static GptOptions extra_large() { return {.layers = 48, .width = 1600, .heads = 25}; }
};

class GptBlock;

class Gpt : public torch::nn::Module {
 public:
  // Throws std::invalid_argument if the heads do not divide the width.
  explicit Gpt(const GptOptions& options);

  // tokens: batch, length up to the context. Gives scores: batch, length, vocabulary.
  at::Tensor forward(const at::Tensor& tokens);
  // Whether each block is run again in backward instead of keeping its activations.
  void checkpoint_blocks(bool is_on) { checkpoints_blocks_ = is_on; }

 private:
  torch::nn::Embedding wte_{nullptr}, wpe_{nullptr};
  torch::nn::Dropout drop_{nullptr};
  std::vector<std::shared_ptr<GptBlock>> blocks_;
  torch::nn::LayerNorm ln_f_{nullptr};
  bool checkpoints_blocks_ = false;
};

// Heeds layers, width, heads, context, vocabulary and dropout, and has the rest from `shape`.
Model make_gpt(const GptOptions& shape, const ModelOptions& options);

}  // namespace lowtide::zoo
