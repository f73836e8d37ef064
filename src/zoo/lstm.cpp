// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/lstm.h"

#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include "zoo/linear.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

// Section 4.1, "medium LSTM".
constexpr std::int64_t kLayers = 2, kWidth = 650, kContext = 35, kVocabulary = 10'000;
constexpr double kDropout = 0.5, kReach = 0.05;

class LstmLanguageModel : public torch::nn::Module {
 public:
  LstmLanguageModel(std::int64_t layers, std::int64_t width, std::int64_t vocabulary,
                    double dropout) {
    encoder_ = register_module("encoder", torch::nn::Embedding(vocabulary, width));
    drop_ = register_module("drop", torch::nn::Dropout(dropout));
    // Torch's dropout stands between layers, so a single one has none.
    const auto options = torch::nn::LSTMOptions(width, width)
                             .num_layers(layers)
                             .batch_first(true)
                             .dropout(layers > 1 ? dropout : 0);
    rnn_ = register_module("rnn", torch::nn::LSTM(options));
    decoder_ = register_module("decoder", torch::nn::Linear(width, vocabulary));
    const torch::NoGradGuard no_grad;
    for (const at::Tensor& parameter : parameters()) parameter.uniform_(-kReach, kReach);
  }

  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = drop_->forward(encoder_->forward(tokens));
    return linear(decoder_, drop_->forward(std::get<0>(rnn_->forward(x))));
  }

 private:
  torch::nn::Embedding encoder_{nullptr};
  torch::nn::Dropout drop_{nullptr};
  torch::nn::LSTM rnn_{nullptr};
  torch::nn::Linear decoder_{nullptr};
};

}  // namespace

Model make_lstm(const ModelOptions& options) {
  const InputShape input = input_of(
      options, {.kind = InputKind::kTokens, .context = kContext, .vocabulary = kVocabulary});
  const auto net = std::make_shared<LstmLanguageModel>(
      options.layers.value_or(kLayers), options.width.value_or(kWidth), input.vocabulary,
      options.dropout.value_or(kDropout));
  return model_of(net, input);
}

}  // namespace lowtide::zoo
