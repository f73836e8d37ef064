// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// The same as meta_kernels.cpp for attention and recurrent layers.

#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Tensor floats(at::IntArrayRef sizes, const Tensor& beside) {
  return at::empty(sizes, beside.options().dtype(at::kFloat));
}
// A number of a random generator's state.
Tensor seed(const Tensor& beside) { return at::empty({}, beside.options().dtype(at::kLong)); }

// Batch, heads, length, width, which lies in memory as batch, length, heads, width: so does what
// these kernels give, and the reshape behind them is a view.
Tensor scores(const Tensor& query, const Tensor& value) {
  return at::empty({query.size(0), query.size(2), query.size(1), value.size(3)}, query.options())
      .transpose(1, 2);
}

// As the kernels' own gradients, which lie in memory as their inputs' results do.
Three gradients(const Tensor& query, const Tensor& key, const Tensor& value) {
  return {scores(query, query), scores(key, key), scores(value, value)};
}

Two flash_for_cpu(const Tensor& query, const Tensor&, const Tensor& value, double, bool,
                  const optional<Tensor>&, optional<double>) {
  return {query.size(3) == value.size(3) ? at::empty_like(query) : scores(query, value),
          floats({query.size(0), query.size(2), query.size(1)}, query).transpose(1, 2)};
}

Three flash_for_cpu_backward(const Tensor&, const Tensor& query, const Tensor& key,
                             const Tensor& value, const Tensor&, const Tensor&, double, bool,
                             const optional<Tensor>&, optional<double>) {
  return gradients(query, key, value);
}

Four efficient(const Tensor& query, const Tensor&, const Tensor& value, const optional<Tensor>&,
               bool is_trained, double, bool, optional<double>) {
  constexpr std::int64_t kAlignment = 32;
  const std::int64_t rows = (query.size(2) + kAlignment - 1) / kAlignment * kAlignment;
  return {scores(query, value),
          floats({query.size(0), query.size(1), is_trained ? rows : 0}, query), seed(query),
          seed(query)};
}

Four efficient_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                        const Tensor& bias, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&, double, std::array<bool, 4> wanted, bool, optional<double>) {
  auto [of_query, of_key, of_value] = gradients(query, key, value);
  return {of_query, of_key, of_value,
          wanted[3] && bias.defined() ? at::empty_like(bias) : Tensor()};
}

using Nine =
    std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Nine cudnn(const Tensor& query, const Tensor& key, const Tensor& value, const optional<Tensor>&,
           bool, double, bool, bool, optional<double>) {
  return {scores(query, value),
          floats({query.size(0), query.size(1), query.size(2), 1}, query),
          Tensor(),
          Tensor(),
          query.size(2),
          key.size(2),
          seed(query),
          seed(query),
          Tensor()};
}

Three cudnn_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                     const Tensor&, const Tensor&, std::int64_t, std::int64_t, double, bool,
                     optional<double>) {
  return gradients(query, key, value);
}

Nine flash(const Tensor& query, const Tensor& key, const Tensor& value, double, bool, bool,
           optional<double>) {
  const auto numbers = query.options().dtype(at::kUInt64);
  return {scores(query, value),
          floats({query.size(0), query.size(1), query.size(2)}, query),
          Tensor(),
          Tensor(),
          query.size(2),
          key.size(2),
          at::empty({2}, numbers),
          at::empty({}, numbers),
          at::empty({0}, query.options())};
}

Three flash_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor&, const Tensor&, const Tensor&, const Tensor&, std::int64_t,
                     std::int64_t, double, bool, const Tensor&, const Tensor&, optional<double>) {
  return gradients(query, key, value);
}

// oneDNN's workspace of an LSTM layer: the gates, the hidden states and five sorts of states of two
// levels and one step more, each from a page of its own on. Found by asking the real kernel.
std::int64_t workspace_bytes(std::int64_t steps, std::int64_t batch, std::int64_t width) {
  constexpr std::int64_t kPage = 4096, kFloat = 4, kGates = 4, kSorts = 5, kLevels = 2;
  const auto pages = [](std::int64_t floats) {
    return (floats * kFloat + kPage - 1) / kPage * kPage;
  };
  const std::int64_t row = (width + 15) / 16 * 16;
  return pages(steps * batch * kGates * width) + pages(steps * batch * width) +
         kSorts * pages(kLevels * (steps + 1) * batch * row);
}

// One layer in one direction. What oneDNN keeps for the backward pass was measured.
Four recurrent_layer(const Tensor& input, const Tensor&, const Tensor&, const Tensor&,
                     const Tensor&, const Tensor& hidden, const Tensor& cell, bool, at::IntArrayRef,
                     std::int64_t, std::int64_t width, std::int64_t, bool, bool, bool,
                     bool is_training) {
  const std::int64_t steps = input.size(0), batch = input.size(1);
  return {at::empty({steps, batch, width}, input.options()), at::empty_like(hidden),
          at::empty_like(cell),
          at::empty({is_training ? workspace_bytes(steps, batch, width) : 0},
                    input.options().dtype(at::kByte))};
}

using Seven = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

Seven recurrent_layer_backward(const Tensor& input, const Tensor& first, const Tensor& second,
                               const Tensor& third, const Tensor& fourth, const Tensor& hidden,
                               const Tensor& cell, const Tensor&, const Tensor&, const Tensor&,
                               const optional<Tensor>&, const optional<Tensor>&,
                               const optional<Tensor>&, bool, std::int64_t, std::int64_t,
                               std::int64_t, bool, bool, bool, at::IntArrayRef, bool,
                               const Tensor&) {
  return {at::empty_like(input), at::empty_like(first),  at::empty_like(second),
          at::empty_like(third), at::empty_like(fourth), at::empty_like(hidden),
          at::empty_like(cell)};
}

using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

// All layers of an LSTM at once, by cuDNN. For the backward pass it keeps a reserve, of whose size
// only cuDNN knows: six numbers for each unit, step and example of a layer, as many as its four
// gates, its cell state and what that gives, are within 0.03 % of the peak of two trainings on an
// H200 that it was read off. The last result, all weights in a row, is the parameters' own memory.
Five cudnn_rnn(const Tensor& input, at::TensorList, std::int64_t, const optional<Tensor>&,
               const Tensor& hidden, const optional<Tensor>& cell, std::int64_t, std::int64_t width,
               std::int64_t, std::int64_t layers, bool is_batch_first, double, bool is_training,
               bool goes_both_ways, at::IntArrayRef, const optional<Tensor>&) {
  constexpr std::int64_t kKept = 6;
  const std::int64_t ways = goes_both_ways ? 2 : 1;
  const std::int64_t steps = input.size(is_batch_first ? 1 : 0);
  const std::int64_t batch = input.size(is_batch_first ? 0 : 1);
  const Tensor output = at::empty({steps, batch, ways * width}, input.options());
  const std::int64_t kept = is_training ? kKept * layers * ways * steps * batch * width : 0;
  return {is_batch_first ? output.transpose(0, 1) : output, at::empty_like(hidden),
          cell ? at::empty_like(*cell) : Tensor(),
          at::empty({kept * input.element_size()}, input.options().dtype(at::kByte)),
          at::empty({0}, input.options())};
}

using Gradients = std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>>;

Gradients cudnn_rnn_backward(const Tensor& input, at::TensorList weights, std::int64_t,
                             const Tensor&, const Tensor& hidden, const optional<Tensor>& cell,
                             const Tensor&, const optional<Tensor>&, const optional<Tensor>&,
                             const optional<Tensor>&, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, bool, double, bool, bool, at::IntArrayRef,
                             const optional<Tensor>&, const Tensor&, std::array<bool, 4> wanted) {
  std::vector<Tensor> of_weights;
  for (const Tensor& weight : weights) {
    of_weights.push_back(wanted[3] ? at::empty_like(weight) : Tensor());
  }
  return {wanted[0] ? at::empty_like(input) : Tensor(),
          wanted[1] ? at::empty_like(hidden) : Tensor(),
          wanted[2] && cell ? at::empty_like(*cell) : Tensor(), std::move(of_weights)};
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("_cudnn_rnn", TORCH_FN(cudnn_rnn));
  library.impl("_cudnn_rnn_backward", TORCH_FN(cudnn_rnn_backward));
  library.impl("mkldnn_rnn_layer", TORCH_FN(recurrent_layer));
  library.impl("mkldnn_rnn_layer_backward", TORCH_FN(recurrent_layer_backward));
  library.impl("_scaled_dot_product_flash_attention_for_cpu", TORCH_FN(flash_for_cpu));
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward",
               TORCH_FN(flash_for_cpu_backward));
  library.impl("_scaled_dot_product_efficient_attention", TORCH_FN(efficient));
  library.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(efficient_backward));
  library.impl("_scaled_dot_product_flash_attention", TORCH_FN(flash));
  library.impl("_scaled_dot_product_flash_attention_backward", TORCH_FN(flash_backward));
  library.impl("_scaled_dot_product_cudnn_attention", TORCH_FN(cudnn));
  library.impl("_scaled_dot_product_cudnn_attention_backward", TORCH_FN(cudnn_backward));
}

}  // namespace
}  // namespace lowtide::estimate
