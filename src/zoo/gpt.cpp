// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/gpt.h"

#include <cmath>
#include <stdexcept>

#include <torch/torch.h>

#include "zoo/checkpoint.h"
#include "zoo/linear.h"
#include "zoo/scoring.h"
#include "zoo/transformer_shape.h"

namespace lowtide::zoo {
namespace {

constexpr double kWeightDeviation = 0.02;

class Attention : public torch::nn::Module {
 public:
  explicit Attention(const GptOptions& options) : heads_(options.heads), dropout_(options.dropout) {
    c_attn_ = register_module("c_attn", torch::nn::Linear(options.width, 3 * options.width));
    c_proj_ = register_module("c_proj", torch::nn::Linear(options.width, options.width));
  }

  at::Tensor forward(const at::Tensor& x) {
    const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
    const at::Tensor joined = linear(c_attn_, x)
                                  .view({batch, length, 3, heads_, width / heads_})
                                  .permute({2, 0, 3, 1, 4});
    const at::Tensor y = at::scaled_dot_product_attention(joined[0], joined[1], joined[2], {},
                                                          dropout_now(), /*is_causal=*/true);
    return linear(c_proj_, y.transpose(1, 2).reshape({batch, length, width}));
  }

 private:
  double dropout_now() const { return is_training() ? dropout_ : 0.0; }

  std::int64_t heads_;
  double dropout_;
  torch::nn::Linear c_attn_{nullptr}, c_proj_{nullptr};
};

class Perceptron : public torch::nn::Module {
 public:
  explicit Perceptron(std::int64_t width) {
    c_fc_ = register_module("c_fc", torch::nn::Linear(width, 4 * width));
    c_proj_ = register_module("c_proj", torch::nn::Linear(4 * width, width));
  }

  at::Tensor forward(const at::Tensor& x) {
    return linear(c_proj_, at::gelu(linear(c_fc_, x), "tanh"));
  }

 private:
  torch::nn::Linear c_fc_{nullptr}, c_proj_{nullptr};
};

torch::nn::LayerNorm norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

// As GPT-2: what adds to the residual stream starts smaller, by the number of such additions.
void set_first_values(torch::nn::Module& model, std::int64_t layers) {
  const torch::NoGradGuard no_grad;
  const double residual = kWeightDeviation / std::sqrt(2.0 * static_cast<double>(layers));
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    if (name.find("ln_") != std::string::npos) continue;
    if (name.ends_with("bias")) {
      item.value().zero_();
    } else {
      item.value().normal_(0, name.ends_with("c_proj.weight") ? residual : kWeightDeviation);
    }
  }
}

}  // namespace

class GptBlock : public torch::nn::Module {
 public:
  explicit GptBlock(const GptOptions& options) {
    ln_1_ = register_module("ln_1", norm(options.width));
    attn_ = register_module("attn", std::make_shared<Attention>(options));
    ln_2_ = register_module("ln_2", norm(options.width));
    mlp_ = register_module("mlp", std::make_shared<Perceptron>(options.width));
    drop_ = register_module("drop", torch::nn::Dropout(options.dropout));
  }

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor x = input + drop_->forward(attn_->forward(ln_1_->forward(input)));
    return x + drop_->forward(mlp_->forward(ln_2_->forward(x)));
  }

 private:
  torch::nn::LayerNorm ln_1_{nullptr}, ln_2_{nullptr};
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<Perceptron> mlp_;
  torch::nn::Dropout drop_{nullptr};
};

Gpt::Gpt(const GptOptions& options) {
  if (options.width % options.heads != 0) {
    throw std::invalid_argument("the heads of a GPT must divide its width");
  }
  wte_ = register_module("wte", torch::nn::Embedding(options.vocabulary, options.width));
  wpe_ = register_module("wpe", torch::nn::Embedding(options.context, options.width));
  drop_ = register_module("drop", torch::nn::Dropout(options.dropout));
  torch::nn::ModuleList list;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks_.push_back(std::make_shared<GptBlock>(options));
    list->push_back(blocks_.back());
  }
  register_module("h", list);
  ln_f_ = register_module("ln_f", norm(options.width));
  set_first_values(*this, options.layers);
}

at::Tensor Gpt::forward(const at::Tensor& tokens) {
  const at::Tensor positions = wpe_->weight.slice(0, 0, tokens.size(1));
  at::Tensor x = drop_->forward(wte_->forward(tokens) + positions);
  for (const auto& block : blocks_) {
    x = checkpoints_blocks_
            ? checkpoint([block](const at::Tensor& input) { return block->forward(input); }, x)
            : block->forward(x);
  }
  return at::linear(ln_f_->forward(x), wte_->weight);
}

Model make_gpt(const GptOptions& shape, const ModelOptions& options) {
  const TransformerShape size = with_options({.layers = shape.layers,
                                              .width = shape.width,
                                              .heads = shape.heads,
                                              .dropout = shape.dropout},
                                             options);
  const InputShape input = input_of(
      options,
      {.kind = InputKind::kTokens, .context = shape.context, .vocabulary = shape.vocabulary});
  const GptOptions chosen = {.layers = size.layers,
                             .width = size.width,
                             .heads = size.heads,
                             .context = input.context,
                             .vocabulary = input.vocabulary,
                             .dropout = size.dropout};
  return model_of(std::make_shared<Gpt>(chosen), input);
}

}  // namespace lowtide::zoo
