// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/layers.h"

#include <cmath>
#include <limits>
#include <string>

namespace lowtide::torch_test {

LinearStack::LinearStack(const LinearStackShape& shape) {
  for (int i = 0; i < shape.depth; ++i) {
    const std::int64_t inputs = i == 0 ? shape.inputs : shape.width;
    layers_.push_back(
        register_module("linear" + std::to_string(i), torch::nn::Linear(inputs, shape.width)));
  }
  layers_.push_back(register_module("head", torch::nn::Linear(shape.width, shape.outputs)));
}

at::Tensor LinearStack::forward(at::Tensor x) {
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i) x = layers_[i]->forward(x).tanh();
  return layers_.back()->forward(x);
}

TransformerBlock::TransformerBlock(const TransformerShape& shape) : shape_(shape) {
  const std::int64_t width = shape.width;
  norm1_ = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  norm2_ = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  mix_ = register_module("mix", torch::nn::Linear(width, 3 * width));
  join_ = register_module("join", torch::nn::Linear(width, width));
  widen_ = register_module("widen", torch::nn::Linear(width, 4 * width));
  narrow_ = register_module("narrow", torch::nn::Linear(4 * width, width));
}

at::Tensor TransformerBlock::attend(const at::Tensor& x) {
  const std::int64_t batch = x.size(0);
  const std::int64_t length = x.size(1);
  const std::vector<at::Tensor> parts =
      mix_->forward(x).view({batch, length, 3 * shape_.heads, -1}).transpose(1, 2).chunk(3, 1);
  const double dropout = is_training() ? shape_.dropout : 0.0;
  at::Tensor y;
  if (shape_.attention == Attention::kFused) {
    y = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, dropout, true);
  } else {
    const double scale = 1.0 / std::sqrt(static_cast<double>(parts[0].size(3)));
    at::Tensor scores = at::matmul(parts[0], parts[1].transpose(2, 3)).mul_(scale);
    const at::Tensor later =
        at::ones({length, length}, x.options().dtype(at::kBool)).triu_(/*diagonal=*/1);
    scores.masked_fill_(later, -std::numeric_limits<double>::infinity());
    y = at::matmul(at::dropout(at::softmax(scores, -1), dropout, true), parts[2]);
  }
  return join_->forward(y.transpose(1, 2).reshape({batch, length, shape_.width}));
}

at::Tensor TransformerBlock::forward(const at::Tensor& x) {
  const auto dropped = [&](const at::Tensor& y) {
    return at::dropout(y, shape_.dropout, is_training());
  };
  const at::Tensor middle = x + dropped(attend(norm1_->forward(x)));
  const at::Tensor wide = at::gelu(widen_->forward(norm2_->forward(middle)));
  return middle + dropped(narrow_->forward(wide));
}

}  // namespace lowtide::torch_test
