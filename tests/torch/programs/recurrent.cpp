// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// torch's LSTM and GRU, several layers with dropout between them.
#include <tuple>

#include <torch/torch.h>

#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kInputs = 24;
constexpr std::int64_t kWidth = 32;
constexpr std::int64_t kLength = 20;
constexpr std::int64_t kBatch = 48;
constexpr int kLayers = 4;

template <class Recurrent, class Options>
class Reader : public torch::nn::Module {
 public:
  Reader() {
    layers_ = register_module("layers",
                              Recurrent(Options(kInputs, kWidth).num_layers(kLayers).dropout(0.2)));
    head_ = register_module("head", torch::nn::Linear(kWidth, kInputs));
  }

  at::Tensor forward(const at::Tensor& x) {
    return head_->forward(std::get<0>(layers_->forward(x)));
  }

 private:
  Recurrent layers_{nullptr};
  torch::nn::Linear head_{nullptr};
};

template <class Recurrent, class Options>
std::unique_ptr<Training> make(at::Device device, std::uint64_t seed) {
  auto model = make_model<Reader<Recurrent, Options>>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, kLength, kBatch, kInputs});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor x = inputs.select(0, i % 4);
    return at::mse_loss(model->forward(x).slice(0, 0, -1), x.slice(0, 1));
  });
}

}  // namespace

std::vector<Program> recurrent_programs() {
  return {{"recurrent_lstm", make<torch::nn::LSTM, torch::nn::LSTMOptions>},
          {"recurrent_gru", make<torch::nn::GRU, torch::nn::GRUOptions>}};
}

}  // namespace lowtide::torch_test
