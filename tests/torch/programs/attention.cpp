// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Causal transformers: torch's fused attention with and without dropout, and attention written out.
#include <string>
#include <utility>

#include <torch/torch.h>

#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWords = 96;
constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kLength = 64;

class Gpt : public torch::nn::Module {
 public:
  explicit Gpt(const TransformerShape& shape) {
    words_ = register_module("words", torch::nn::Embedding(kWords, shape.width));
    places_ = register_module("places", torch::nn::Embedding(kLength, shape.width));
    for (int i = 0; i < shape.depth; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i), std::make_shared<TransformerBlock>(shape)));
    }
    head_ = register_module("head", torch::nn::Linear(shape.width, kWords));
  }

  at::Tensor forward(const at::Tensor& text) {
    const at::Tensor places = at::arange(text.size(1), text.options());
    at::Tensor x = words_->forward(text) + places_->forward(places);
    for (const auto& block : blocks_) x = block->forward(x);
    return head_->forward(x);
  }

 private:
  torch::nn::Embedding words_{nullptr}, places_{nullptr};
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
  torch::nn::Linear head_{nullptr};
};

std::unique_ptr<Training> make(const TransformerShape& shape, at::Device device,
                               std::uint64_t seed) {
  auto model = make_model<Gpt>(device, seed, shape);
  const at::Tensor text = Data(device, seed).integers(0, kWords, {4, kBatch, kLength + 1});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor words = text.select(0, i % 4);
    const at::Tensor scores = model->forward(words.narrow(1, 0, kLength));
    return torch::cross_entropy_loss(scores.reshape({-1, kWords}),
                                     words.narrow(1, 1, kLength).reshape({-1}));
  });
}

Program row(std::string name, const TransformerShape& shape) {
  return {std::move(name),
          [shape](at::Device device, std::uint64_t seed) { return make(shape, device, seed); }};
}

}  // namespace

std::vector<Program> attention_programs() {
  return {row("attention_fused", {.dropout = 0}), row("attention_fused_dropout", {.dropout = 0.1}),
          row("attention_softmax", {.dropout = 0.1, .attention = Attention::kSoftmax})};
}

}  // namespace lowtide::torch_test
