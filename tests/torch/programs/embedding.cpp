// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Embeddings: tied to the output layer, with a padding word, with rows kept short (max_norm writes
// the weight in forward), and with a batch and length that change from step to step.
#include <string>

#include <torch/torch.h>

#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWords = 512;
constexpr std::int64_t kLength = 256;
constexpr std::int64_t kWidth = 128;

enum class Head { kTied, kOwn };

class WordModel : public torch::nn::Module {
 public:
  WordModel(torch::nn::EmbeddingOptions options, Head head, int depth)
      : is_tied_(head == Head::kTied) {
    words_ = register_module("words", torch::nn::Embedding(options));
    for (int i = 0; i < depth; ++i) {
      const std::string number = std::to_string(i);
      layers_.push_back(register_module("linear" + number, torch::nn::Linear(kWidth, kWidth)));
    }
    if (!is_tied_) head_ = register_module("head", torch::nn::Linear(kWidth, kWords));
  }

  // Scores of the next word, for each word.
  at::Tensor forward(const at::Tensor& text) {
    at::Tensor x = words_->forward(text);
    for (auto& layer : layers_) x = x + layer->forward(x).mul_(0.5).relu_();
    return is_tied_ ? at::linear(x, words_->weight) : head_->forward(x);
  }

 private:
  bool is_tied_;
  torch::nn::Embedding words_{nullptr};
  std::vector<torch::nn::Linear> layers_;
  torch::nn::Linear head_{nullptr};
};

std::unique_ptr<Training> predict(at::Device device, std::uint64_t seed,
                                  const torch::nn::EmbeddingOptions& options, Head head) {
  auto model = make_model<WordModel>(device, seed, options, head, 12);
  const at::Tensor text = Data(device, seed).integers(0, kWords, {4, kLength + 1});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor words = text.select(0, i % 4);
    return torch::cross_entropy_loss(model->forward(words.narrow(0, 0, kLength)),
                                     words.narrow(0, 1, kLength));
  });
}

std::unique_ptr<Training> tied(at::Device device, std::uint64_t seed) {
  return predict(device, seed, torch::nn::EmbeddingOptions(kWords, kWidth), Head::kTied);
}

std::unique_ptr<Training> padding(at::Device device, std::uint64_t seed) {
  return predict(device, seed, torch::nn::EmbeddingOptions(kWords, kWidth).padding_idx(3),
                 Head::kOwn);
}

std::unique_ptr<Training> max_norm(at::Device device, std::uint64_t seed) {
  return predict(device, seed, torch::nn::EmbeddingOptions(kWords, kWidth).max_norm(6.0),
                 Head::kOwn);
}

class LengthModel : public torch::nn::Module {
 public:
  LengthModel() {
    words_ = register_module("words", torch::nn::Embedding(kWords, 64));
    TransformerShape shape;
    shape.width = 64;
    shape.dropout = 0.1;
    shape.attention = Attention::kSoftmax;
    for (int i = 0; i < 4; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i), std::make_shared<TransformerBlock>(shape)));
    }
  }

  at::Tensor forward(const at::Tensor& text) {
    at::Tensor x = words_->forward(text);
    for (const auto& block : blocks_) x = block->forward(x);
    return at::linear(x, words_->weight);
  }

 private:
  torch::nn::Embedding words_{nullptr};
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
};

std::unique_ptr<Training> lengths(at::Device device, std::uint64_t seed) {
  auto model = make_model<LengthModel>(device, seed);
  return train(model, make_adam(*model), [=](int i) {
    Data data(device, seed + static_cast<std::uint64_t>(i));
    const std::int64_t batch = data.integer(2, 8);
    const std::int64_t length = data.integer(16, 64);
    const at::Tensor text = data.integers(0, kWords, {batch, length + 1});
    const at::Tensor scores = model->forward(text.narrow(1, 0, length));
    return torch::cross_entropy_loss(scores.reshape({-1, kWords}),
                                     text.narrow(1, 1, length).reshape({-1}));
  });
}

}  // namespace

std::vector<Program> embedding_programs() {
  return {{"embedding_tied", tied},
          {"embedding_padding", padding},
          {"embedding_max_norm", max_norm},
          {"embedding_lengths_vary", lengths}};
}

}  // namespace lowtide::torch_test
