// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/vit.h"

#include <cmath>

#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "base/check.h"
#include "zoo/first_values.h"
#include "zoo/linear.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

namespace init = torch::nn::init;

constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kInnerFactor = 4;

torch::nn::LayerNorm norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(1e-6));
}

class Attention : public torch::nn::Module {
 public:
  explicit Attention(const TransformerShape& shape) : heads_(shape.heads) {
    in_proj_weight_ =
        register_parameter("in_proj_weight", torch::empty({3 * shape.width, shape.width}));
    in_proj_bias_ = register_parameter("in_proj_bias", torch::zeros({3 * shape.width}));
    out_proj_ = register_module("out_proj", torch::nn::Linear(shape.width, shape.width));
    init::xavier_uniform_(in_proj_weight_);
    init::zeros_(out_proj_->bias);
  }

  at::Tensor forward(const at::Tensor& x) {
    const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
    const at::Tensor joined = at::linear(x, in_proj_weight_, in_proj_bias_)
                                  .view({batch, length, 3, heads_, width / heads_})
                                  .permute({2, 0, 3, 1, 4});
    const at::Tensor y = at::scaled_dot_product_attention(joined[0], joined[1], joined[2]);
    return linear(out_proj_, y.transpose(1, 2).reshape({batch, length, width}));
  }

 private:
  std::int64_t heads_;
  at::Tensor in_proj_weight_, in_proj_bias_;
  torch::nn::Linear out_proj_{nullptr};
};

class Perceptron : public torch::nn::Module {
 public:
  explicit Perceptron(const TransformerShape& shape) {
    // Between and after them torchvision counts an activation and a dropout.
    first_ = register_module("0", torch::nn::Linear(shape.width, kInnerFactor * shape.width));
    second_ = register_module("3", torch::nn::Linear(kInnerFactor * shape.width, shape.width));
    drop_ = register_module("drop", torch::nn::Dropout(shape.dropout));
    for (const torch::nn::Linear& layer : {first_, second_}) {
      init::xavier_uniform_(layer->weight);
      init::normal_(layer->bias, 0, 1e-6);
    }
  }

  at::Tensor forward(const at::Tensor& x) {
    return drop_->forward(linear(second_, drop_->forward(at::gelu(linear(first_, x)))));
  }

 private:
  torch::nn::Linear first_{nullptr}, second_{nullptr};
  torch::nn::Dropout drop_{nullptr};
};

class Layer : public torch::nn::Module {
 public:
  explicit Layer(const TransformerShape& shape) {
    ln_1_ = register_module("ln_1", norm(shape.width));
    self_attention_ = register_module("self_attention", std::make_shared<Attention>(shape));
    drop_ = register_module("dropout", torch::nn::Dropout(shape.dropout));
    ln_2_ = register_module("ln_2", norm(shape.width));
    mlp_ = register_module("mlp", std::make_shared<Perceptron>(shape));
  }

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor x = input + drop_->forward(self_attention_->forward(ln_1_->forward(input)));
    return x + mlp_->forward(ln_2_->forward(x));
  }

 private:
  torch::nn::LayerNorm ln_1_{nullptr}, ln_2_{nullptr};
  std::shared_ptr<Attention> self_attention_;
  torch::nn::Dropout drop_{nullptr};
  std::shared_ptr<Perceptron> mlp_;
};

class Encoder : public torch::nn::Module {
 public:
  Encoder(const TransformerShape& shape, std::int64_t length) {
    pos_embedding_ = register_parameter("pos_embedding", torch::empty({1, length, shape.width}));
    init::normal_(pos_embedding_, 0, 0.02);
    drop_ = register_module("dropout", torch::nn::Dropout(shape.dropout));
    const auto folder = register_module("layers", std::make_shared<torch::nn::Module>());
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers_.push_back(folder->register_module("encoder_layer_" + std::to_string(i),
                                                std::make_shared<Layer>(shape)));
    }
    ln_ = register_module("ln", norm(shape.width));
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor x = drop_->forward(input + pos_embedding_);
    for (const auto& layer : layers_) x = layer->forward(x);
    return ln_->forward(x);
  }

 private:
  at::Tensor pos_embedding_;
  torch::nn::Dropout drop_{nullptr};
  std::vector<std::shared_ptr<Layer>> layers_;
  torch::nn::LayerNorm ln_{nullptr};
};

class VisionTransformer : public torch::nn::Module {
 public:
  VisionTransformer(const TransformerShape& shape, const InputShape& input) {
    const std::int64_t patches = (input.size / kPatch) * (input.size / kPatch);
    class_token_ = register_parameter("class_token", torch::zeros({1, 1, shape.width}));
    conv_proj_ = register_module(
        "conv_proj",
        torch::nn::Conv2d(
            torch::nn::Conv2dOptions(input.channels, shape.width, kPatch).stride(kPatch)));
    encoder_ = register_module("encoder", std::make_shared<Encoder>(shape, patches + 1));
    const auto heads = register_module("heads", std::make_shared<torch::nn::Module>());
    head_ = heads->register_module("head", torch::nn::Linear(shape.width, input.classes));
    const double fan_in = static_cast<double>(input.channels * kPatch * kPatch);
    set_cut_off(conv_proj_->weight, std::sqrt(1 / fan_in));
    init::zeros_(conv_proj_->bias);
    init::zeros_(head_->weight);
    init::zeros_(head_->bias);
  }

  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor patches = conv_proj_->forward(pictures).flatten(2).transpose(1, 2);
    const at::Tensor token = class_token_.expand({pictures.size(0), -1, -1});
    return head_->forward(encoder_->forward(at::cat({token, patches}, 1)).select(1, 0));
  }

 private:
  at::Tensor class_token_;
  torch::nn::Conv2d conv_proj_{nullptr};
  std::shared_ptr<Encoder> encoder_;
  torch::nn::Linear head_{nullptr};
};

}  // namespace

Model make_vit(const TransformerShape& shape, const ModelOptions& options) {
  const InputShape input = input_of(options, {}, kPatch);
  LT_REQUIRE(input.size % kPatch == 0, "the size of pictures must be a multiple of the patches', ",
             kPatch, ", not ", input.size);
  return model_of(std::make_shared<VisionTransformer>(with_options(shape, options), input), input);
}

}  // namespace lowtide::zoo
