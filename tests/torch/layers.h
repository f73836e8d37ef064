// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

// Models that more than one family of programs trains.

namespace lowtide::torch_test {

struct LinearStackShape {
  std::int64_t inputs;
  std::int64_t width;
  std::int64_t outputs;
  int depth;
};

// `depth` linear layers of `width` with tanh between, then one to `outputs`.
class LinearStack : public torch::nn::Module {
 public:
  explicit LinearStack(const LinearStackShape& shape);
  at::Tensor forward(at::Tensor x);

 private:
  std::vector<torch::nn::Linear> layers_;
};

enum class Attention { kFused, kSoftmax };

struct TransformerShape {
  std::int64_t width = 48;
  std::int64_t heads = 2;
  int depth = 4;
  double dropout = 0;
  Attention attention = Attention::kFused;
};

// A block of a causal transformer: attention, then a wide layer with GELU, each after a LayerNorm
// and added to what came in.
class TransformerBlock : public torch::nn::Module {
 public:
  explicit TransformerBlock(const TransformerShape& shape);
  // x: batch, length, width.
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor attend(const at::Tensor& x);

  TransformerShape shape_;
  torch::nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  torch::nn::Linear mix_{nullptr}, join_{nullptr}, widen_{nullptr}, narrow_{nullptr};
};

}  // namespace lowtide::torch_test
