// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators of transformers, as torch's functions for the same.

#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

// Batch, heads, length, width of a head; three axes have the heads side by side in the last.
Tensor with_heads(const OnnxCall& call, const Tensor& tensor, const char* attribute) {
  if (tensor.dim() == 4) return tensor;
  const std::int64_t heads = call.integer(attribute, 0);
  LT_REQUIRE(tensor.dim() == 3 && heads > 0 && tensor.size(2) % heads == 0, "the op ", call.node.op,
             " '", call.node.name, "' has an input that does not go into ", heads, " heads");
  return tensor.reshape({tensor.size(0), tensor.size(1), heads, tensor.size(2) / heads})
      .transpose(1, 2);
}

Tensor behind_past(const OnnxCall& call, std::size_t past, const Tensor& tensor) {
  return call.has(past) ? at::cat({call.tensor(past), tensor}, 2) : tensor;
}

// Its fourth result, the scores, is nothing that torch's attention gives.
Values attention(const OnnxCall& call) {
  constexpr std::size_t kMask = 3, kPastKey = 4, kPastValue = 5, kResults = 3;
  if (call.node.outputs.size() > kResults && !call.node.outputs[kResults].empty()) {
    throw OnnxUnknown("the op 'Attention' that gives its scores is not known");
  }
  if (call.number("softcap", 0) != 0) {
    throw OnnxUnknown("the op 'Attention' with a softcap is not known");
  }
  const Tensor input = call.tensor(0);
  const Tensor query = with_heads(call, input, "q_num_heads");
  const Tensor key = behind_past(call, kPastKey, with_heads(call, call.tensor(1), "kv_num_heads"));
  const Tensor value =
      behind_past(call, kPastValue, with_heads(call, call.tensor(2), "kv_num_heads"));
  const OnnxAttribute* scale = call.attribute("scale");
  const Tensor result = at::scaled_dot_product_attention(
      query, key, value, call.has(kMask) ? std::optional(call.tensor(kMask)) : std::nullopt,
      /*dropout_p=*/0.0, call.integer("is_causal", 0) != 0,
      scale == nullptr ? std::nullopt : std::optional<double>(scale->number),
      /*enable_gqa=*/query.size(1) != key.size(1));
  const Tensor joined = input.dim() == 4 ? result : result.transpose(1, 2).flatten(2);
  return {{.tensor = joined}, {.tensor = key}, {.tensor = value}};
}

// Sines or cosines: of each place in the text, or of the places that are asked for, for all heads.
Tensor turns(const OnnxCall& call, std::size_t table) {
  constexpr std::size_t kPlaces = 3;
  const Tensor rows = call.has(kPlaces)
                          ? at::embedding(call.tensor(table), call.tensor(kPlaces).to(at::kLong))
                          : call.tensor(table);
  return rows.unsqueeze(1);
}

// What is turned is the first part of each head, in two halves or in pairs.
Values rotary_embedding(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Tensor heads = with_heads(call, input, "num_heads");
  const std::int64_t whole = heads.size(3);
  const std::int64_t asked = call.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = asked == 0 ? whole : asked;
  LT_REQUIRE(turned > 0 && turned <= whole && turned % 2 == 0, "RotaryEmbedding turns ", turned,
             " of ", whole, " numbers");
  const Tensor part = heads.slice(3, 0, turned);
  const bool is_paired = call.integer("interleaved", 0) != 0;
  const Tensor first = is_paired ? part.slice(3, 0, turned, 2) : part.slice(3, 0, turned / 2);
  const Tensor second = is_paired ? part.slice(3, 1, turned, 2) : part.slice(3, turned / 2, turned);
  const Tensor cosines = turns(call, 1), sines = turns(call, 2);
  const Tensor result = at::cat({first * cosines - second * sines, first * sines + second * cosines,
                                 heads.slice(3, turned, whole)},
                                3);
  return one(input.dim() == 4 ? result : result.transpose(1, 2).flatten(2));
}

}  // namespace

void add_attention_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"Attention", attention}, {"RotaryEmbedding", rotary_embedding}});
}

}  // namespace lowtide::estimate
