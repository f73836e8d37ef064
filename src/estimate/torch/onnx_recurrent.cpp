// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's recurrent layers, as torch's functions for the same.

#include <tuple>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Values = std::vector<OnnxValue>;

struct Recurrent {
  Tensor input;
  // As torch wants them: for each direction both weights and, if there are any, both biases.
  std::vector<Tensor> weights;
  // A state of zeros, or the one that is given.
  Tensor hidden;
  std::int64_t directions = 1;
  std::int64_t width = 0;
  bool has_biases = false;
};

Tensor state_or_zeros(const OnnxCall& call, std::size_t i, const Recurrent& layer) {
  if (call.has(i)) return call.tensor(i);
  return at::zeros({layer.directions, layer.input.size(1), layer.width}, layer.input.options());
}

Recurrent recurrent_of(const OnnxCall& call, std::int64_t gates) {
  Recurrent layer;
  layer.input = call.tensor(0);
  const Tensor weight = call.tensor(1), recurrent = call.tensor(2);
  LT_REQUIRE(layer.input.dim() == 3 && weight.dim() == 3 && recurrent.dim() == 3, "the op ",
             call.node.op, " '", call.node.name, "' has inputs of other axes than three");
  layer.directions = weight.size(0);
  layer.width = recurrent.size(2);
  layer.has_biases = call.has(3);
  LT_REQUIRE(layer.directions == 1 || layer.directions == 2, "the op ", call.node.op, " has ",
             layer.directions, " directions");
  for (std::int64_t i = 0; i < layer.directions; ++i) {
    layer.weights.push_back(weight.select(0, i));
    layer.weights.push_back(recurrent.select(0, i));
    if (!layer.has_biases) continue;
    const Tensor bias = call.tensor(3).select(0, i);
    for (const Tensor& half : bias.split(gates * layer.width)) layer.weights.push_back(half);
  }
  constexpr std::size_t kHidden = 5;
  layer.hidden = state_or_zeros(call, kHidden, layer);
  return layer;
}

// Steps, batch, directions by width, as ONNX has it: directions before the batch.
Tensor with_directions(const Tensor& output, const Recurrent& layer) {
  return output.view({output.size(0), output.size(1), layer.directions, layer.width})
      .transpose(1, 2);
}

Values lstm(const OnnxCall& call) {
  constexpr std::int64_t kGates = 4;
  constexpr std::size_t kCell = 6;
  const Recurrent layer = recurrent_of(call, kGates);
  const auto [output, hidden, cell] =
      at::lstm(layer.input, {layer.hidden, state_or_zeros(call, kCell, layer)}, layer.weights,
               layer.has_biases, 1, 0.0, /*train=*/true, layer.directions == 2, false);
  return {{.tensor = with_directions(output, layer)}, {.tensor = hidden}, {.tensor = cell}};
}

Values gru(const OnnxCall& call) {
  constexpr std::int64_t kGates = 3;
  const Recurrent layer = recurrent_of(call, kGates);
  const auto [output, hidden] = at::gru(layer.input, layer.hidden, layer.weights, layer.has_biases,
                                        1, 0.0, /*train=*/true, layer.directions == 2, false);
  return {{.tensor = with_directions(output, layer)}, {.tensor = hidden}};
}

Values plain(const OnnxCall& call) {
  const Recurrent layer = recurrent_of(call, /*gates=*/1);
  const auto [output, hidden] =
      at::rnn_tanh(layer.input, layer.hidden, layer.weights, layer.has_biases, 1, 0.0,
                   /*train=*/true, layer.directions == 2, false);
  return {{.tensor = with_directions(output, layer)}, {.tensor = hidden}};
}

}  // namespace

void add_recurrent_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"LSTM", lstm}, {"GRU", gru}, {"RNN", plain}});
}

}  // namespace lowtide::estimate
