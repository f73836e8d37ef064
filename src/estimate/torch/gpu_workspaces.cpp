// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <ATen/ATen.h>

#include "estimate/torch/gpu_convolutions.h"
#include "estimate/torch/op_workspaces.h"

namespace lowtide::estimate {
namespace {

constexpr std::int64_t kFloatBytes = 4;

// Sums down the columns of a matrix, as for the gradient of a bias: parts of columns go to several
// blocks of threads, each of which has a place in a buffer for all it could hold. As torch's
// Reduce.cuh configures itself, for vectors of four.
std::int64_t column_sum_bytes(std::int64_t rows, std::int64_t columns, const Architecture& gpu) {
  constexpr std::int64_t kVector = 4, kWidth = 32, kHeight = 4, kLeast = 16, kMost = 256;
  if (columns % kVector != 0 || columns / kVector < kWidth) return 0;
  const std::int64_t values = ceiled(rows, kHeight);
  if (rows < kHeight * kLeast || values < kMost) return 0;
  const std::int64_t blocks = ceiled(columns / kVector, kWidth);
  const std::int64_t wanted = gpu.processors * (gpu.threads_each / (kWidth * kHeight));
  if (blocks > wanted) return 0;
  const std::int64_t parts =
      std::max(std::min(ceiled(wanted, blocks), ceiled(values, kLeast)), ceiled(values, kMost));
  return parts == 1 ? 0 : kFloatBytes * columns * parts * kWidth * kVector;
}

std::int64_t sum_bytes(const OpCall& call, const Architecture& gpu) {
  const at::Tensor &input = call.argument(0), &result = call.result(0);
  const std::int64_t last = input.dim() == 0 ? 1 : input.size(-1);
  const bool has_axes = call.arguments.size() > 1 && call.arguments[1].isIntList();
  const bool is_down = has_axes && input.dim() > 1 && input.is_contiguous() &&
                       !call.arguments[1].toIntVector().empty() &&
                       call.arguments[1].toIntVector().front() == 0 && result.numel() == last;
  return is_down && last > 0 ? column_sum_bytes(input.numel() / last, last, gpu) : 0;
}

// Few indices are added one by one; more are sorted first, and parts of the sums of neighbours
// written down: one for each row of the table that can occur, and one more for every ten indices.
// As torch's EmbeddingBackwardKernel.cu has it, which takes some small blocks beside it.
std::int64_t embedding_bytes(const OpCall& call) {
  constexpr std::int64_t kFew = 3072, kRowsEach = 10, kWidth = 32;
  const at::Tensor &gradient = call.argument(0), &indices = call.argument(1);
  if (indices.numel() <= kFew) return 0;
  const std::int64_t rows = std::min(indices.numel(), call.result(0).size(0));
  const std::int64_t columns = ceiled(gradient.size(-1), kWidth) * kWidth;
  return kFloatBytes * columns * (indices.numel() / kRowsEach + rows);
}

// cuDNN sums the gradient of queries in floats, beside a number for each row of scores.
std::int64_t cudnn_attention_bytes(const OpCall& call) {
  return kFloatBytes * call.argument(1).numel() + bytes_of(call.argument(5));
}

// FlashAttention's sum of the gradient of queries, and a number for each row of scores: in floats,
// for whole blocks of rows and of channels. As the source of its kernel has it; not measured.
std::int64_t flash_attention_bytes(const OpCall& call) {
  constexpr std::int64_t kRows = 128, kChannels = 32;
  const at::Tensor& query = call.argument(1);
  const std::int64_t rows = ceiled(query.size(2), kRows) * kRows;
  const std::int64_t channels = ceiled(query.size(3), kChannels) * kChannels;
  return kFloatBytes * query.size(0) * query.size(1) * rows * (channels + 1);
}

// The product of the result and its gradient, before it is summed along rows.
std::int64_t efficient_attention_bytes(const OpCall& call) { return bytes_of(call.argument(5)); }

// The products of all steps' inputs with a layer's weights, four gates of each unit. Assumed: what
// cuDNN takes is not known.
std::int64_t recurrent_bytes(const OpCall& call) {
  constexpr std::int64_t kGates = 4;
  return kGates * bytes_of(call.result(0));
}

}  // namespace

std::int64_t gpu_workspace_bytes(const std::string& op, const OpCall& call,
                                 const Architecture& gpu) {
  if (op == "aten::convolution") return forward_convolution_bytes(call, gpu);
  if (op == "aten::convolution_backward") return weight_gradient_bytes(call, gpu);
  if (op == "aten::sum") return sum_bytes(call, gpu);
  if (op == "aten::embedding_dense_backward") return embedding_bytes(call);
  if (op == "aten::_cudnn_rnn") return recurrent_bytes(call);
  if (op == "aten::_scaled_dot_product_cudnn_attention_backward") {
    return cudnn_attention_bytes(call);
  }
  if (op == "aten::_scaled_dot_product_flash_attention_backward") {
    return flash_attention_bytes(call);
  }
  if (op == "aten::_scaled_dot_product_efficient_attention_backward") {
    return efficient_attention_bytes(call);
  }
  return 0;
}

std::int64_t gpu_early_workspace_bytes(const std::string& op, const OpCall& call) {
  if (op != "aten::convolution_backward" || !call.result(0).defined()) return 0;
  return input_gradient_bytes(call);
}

}  // namespace lowtide::estimate
