// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/bert.h"

#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "zoo/first_values.h"
#include "zoo/linear.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kContext = 512, kVocabulary = 30'522, kSentences = 2;
constexpr std::int64_t kInnerFactor = 4;
constexpr double kDeviation = 0.02;

torch::nn::LayerNorm norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(1e-12));
}

class Embeddings : public torch::nn::Module {
 public:
  Embeddings(const TransformerShape& shape, const InputShape& input) {
    words_ =
        register_module("word_embeddings", torch::nn::Embedding(input.vocabulary, shape.width));
    positions_ =
        register_module("position_embeddings", torch::nn::Embedding(input.context, shape.width));
    sentences_ =
        register_module("token_type_embeddings", torch::nn::Embedding(kSentences, shape.width));
    norm_ = register_module("LayerNorm", norm(shape.width));
    drop_ = register_module("dropout", torch::nn::Dropout(shape.dropout));
  }

  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor positions = positions_->weight.slice(0, 0, tokens.size(1));
    return drop_->forward(
        norm_->forward(words_->forward(tokens) + positions + sentences_->weight[0]));
  }

  const at::Tensor& word_weight() const { return words_->weight; }

 private:
  torch::nn::Embedding words_{nullptr}, positions_{nullptr}, sentences_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Dropout drop_{nullptr};
};

// One layer; it adds first and normalises then.
class Layer : public torch::nn::Module {
 public:
  explicit Layer(const TransformerShape& shape) : heads_(shape.heads), dropout_(shape.dropout) {
    const std::int64_t width = shape.width;
    query_ = register_module("query", torch::nn::Linear(width, width));
    key_ = register_module("key", torch::nn::Linear(width, width));
    value_ = register_module("value", torch::nn::Linear(width, width));
    attention_output_ = register_module("attention_output", torch::nn::Linear(width, width));
    attention_norm_ = register_module("attention_norm", norm(width));
    intermediate_ = register_module("intermediate", torch::nn::Linear(width, kInnerFactor * width));
    output_ = register_module("output", torch::nn::Linear(kInnerFactor * width, width));
    output_norm_ = register_module("output_norm", norm(width));
    drop_ = register_module("dropout", torch::nn::Dropout(shape.dropout));
  }

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor x = attention_norm_->forward(input + drop_->forward(attend(input)));
    const at::Tensor y = linear(output_, at::gelu(linear(intermediate_, x)));
    return output_norm_->forward(x + drop_->forward(y));
  }

 private:
  at::Tensor attend(const at::Tensor& x) {
    const auto by_heads = [&](torch::nn::Linear& layer) {
      return linear(layer, x).unflatten(2, {heads_, -1}).transpose(1, 2);
    };
    const at::Tensor y = at::scaled_dot_product_attention(
        by_heads(query_), by_heads(key_), by_heads(value_), {}, is_training() ? dropout_ : 0.0);
    return linear(attention_output_, y.transpose(1, 2).flatten(2));
  }

  std::int64_t heads_;
  double dropout_;
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, attention_output_{nullptr};
  torch::nn::Linear intermediate_{nullptr}, output_{nullptr};
  torch::nn::LayerNorm attention_norm_{nullptr}, output_norm_{nullptr};
  torch::nn::Dropout drop_{nullptr};
};

class Head : public torch::nn::Module {
 public:
  Head(std::int64_t width, std::int64_t vocabulary) {
    dense_ = register_module("dense", torch::nn::Linear(width, width));
    norm_ = register_module("LayerNorm", norm(width));
    bias_ = register_parameter("bias", torch::zeros({vocabulary}));
  }

  at::Tensor forward(const at::Tensor& x, const at::Tensor& word_weight) {
    return at::linear(norm_->forward(at::gelu(linear(dense_, x))), word_weight, bias_);
  }

 private:
  torch::nn::Linear dense_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  at::Tensor bias_;
};

class Bert : public torch::nn::Module {
 public:
  Bert(const TransformerShape& shape, const InputShape& input) {
    embeddings_ = register_module("embeddings", std::make_shared<Embeddings>(shape, input));
    const auto folder = register_module("layer", std::make_shared<torch::nn::Module>());
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers_.push_back(folder->register_module(std::to_string(i), std::make_shared<Layer>(shape)));
    }
    head_ = register_module("head", std::make_shared<Head>(shape.width, input.vocabulary));
    set_linears(*this, kDeviation);
    set_embeddings(*embeddings_);
  }

  at::Tensor forward(const at::Tensor& tokens) {
    at::Tensor x = embeddings_->forward(tokens);
    for (const auto& layer : layers_) x = layer->forward(x);
    return head_->forward(x, embeddings_->word_weight());
  }

 private:
  static void set_embeddings(torch::nn::Module& embeddings) {
    const torch::NoGradGuard no_grad;
    for (const auto& module : embeddings.children()) {
      auto* table = module->as<torch::nn::Embedding>();
      if (table != nullptr) table->weight.normal_(0, kDeviation);
    }
  }

  std::shared_ptr<Embeddings> embeddings_;
  std::vector<std::shared_ptr<Layer>> layers_;
  std::shared_ptr<Head> head_;
};

}  // namespace

Model make_bert(const TransformerShape& shape, const ModelOptions& options) {
  const InputShape input = input_of(options, {.kind = InputKind::kTokens,
                                              .context = kContext,
                                              .vocabulary = kVocabulary,
                                              .is_masked = true});
  return model_of(std::make_shared<Bert>(with_options(shape, options), input), input);
}

}  // namespace lowtide::zoo
