// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <ATen/ATen.h>

#include "estimate/torch/op_workspaces.h"

namespace lowtide::estimate {
namespace {

constexpr std::int64_t kFloatBytes = 4;

std::int64_t ceiled(std::int64_t number, std::int64_t divisor) {
  return (number + divisor - 1) / divisor;
}

// A convolution with its pictures, whichever way it is carried out.
struct Convolution {
  const at::Tensor& input;
  const at::Tensor& weight;
  const at::Tensor& output;
  bool is_strided = false;
  std::int64_t groups = 1;

  std::int64_t reach() const {
    std::int64_t most = 1;
    for (std::int64_t axis = 2; axis < weight.dim(); ++axis) {
      most = std::max(most, weight.size(axis));
    }
    return most;
  }
  // Torch has kernels of its own for one channel a group, which take nothing.
  bool is_by_channel() const { return groups > 1 && groups == input.size(1); }
  // Kernels read rows of four points at once.
  bool has_odd_pictures() const {
    constexpr std::int64_t kAtOnce = 4;
    const std::int64_t points = input.numel() / std::max<std::int64_t>(1, input.size(0)) /
                                std::max<std::int64_t>(1, input.size(1));
    return points % kAtOnce != 0;
  }
};

constexpr std::int64_t kFewChannels = 4, kSmallKernel = 3;

bool is_short(const Convolution& it) { return it.weight.element_size() < kFloatBytes; }

// What `bytes` of an input or a weight come to with as many channels as kernels read at once.
std::int64_t padded(const Convolution& it, std::int64_t bytes) {
  const std::int64_t channels = it.input.size(1), at_once = is_short(it) ? 8 : 4;
  if (channels == 0 || channels >= kFewChannels) return bytes;
  return bytes / channels * at_once;
}

// There is a kernel for few channels that reads them as they are.
bool takes_nothing(const Convolution& it) {
  return it.is_by_channel() || (it.input.size(1) < kFewChannels && it.reach() <= kSmallKernel);
}

// cuDNN's kernels want pictures with their channels last, and torch's have them first: it copies
// input, weight and result, and makes up to 4 channels of fewer, or 8 in 16 bits, though not for
// the 7 by 7 of residual nets in floats. Kernels of one point need no copy unless they leave points
// out or pictures are of an odd size. Found in the workspaces of steps on an H200 (torch 2.11).
std::int64_t forward_bytes(const Convolution& it) {
  constexpr std::int64_t kUnpadded = 7, kManyChannels = 512;
  if (takes_nothing(it)) return 0;
  const std::int64_t reach = it.reach();
  const std::int64_t input = bytes_of(it.input), weight = bytes_of(it.weight);
  if (reach == kUnpadded && !is_short(it)) return input + weight + bytes_of(it.output);
  if (reach > 1) return padded(it, input) + padded(it, weight) + bytes_of(it.output);
  if (it.is_strided && !is_short(it) && it.output.size(1) <= kManyChannels) return input + weight;
  return it.is_strided || it.has_odd_pictures() ? input + bytes_of(it.output) : 0;
}

// The parts of a weight's gradient that are summed in the end: so many at most, and so many bytes;
// none in 16 bits.
std::int64_t parts_bytes(const Convolution& it) {
  constexpr std::int64_t kParts = 14, kMostBytes = 8'650'752;
  constexpr std::int64_t kPartsOfFew = 120, kMostBytesOfFew = 19'267'584;
  if (is_short(it)) return 0;
  if (it.input.size(1) < kFewChannels) {
    return std::min(kPartsOfFew * padded(it, bytes_of(it.weight)), kMostBytesOfFew);
  }
  return std::min(kParts * bytes_of(it.weight), kMostBytes);
}

// Small pictures of few channels, and no more of them than the input has, get the gradient of their
// 3 by 3 weights by way of Fourier's transforms: both pictures' of a power of two in size, as
// complex numbers, beside a copy of the gradient and room for the weights. Found in steps of
// residual nets and DenseNet on an H200.
bool has_transforms(const Convolution& it) {
  constexpr std::int64_t kReach = 3, kFew = 32, kSome = 64, kSmall = 32, kTiny = 8;
  if (it.reach() != kReach || it.is_strided || it.groups != 1) return false;
  if (it.input.dim() != 4 || is_short(it)) return false;
  const std::int64_t size = std::max(it.input.size(2), it.input.size(3));
  const std::int64_t channels = it.output.size(1);
  if (channels > it.input.size(1)) return false;
  if (size <= kTiny) return channels > kFew && channels <= kSome;
  return channels <= kFew && size <= kSmall;
}

std::int64_t transform_bytes(const Convolution& it) {
  constexpr std::int64_t kComplexBytes = 8, kWeightBytes = std::int64_t{1} << 23, kMargins = 2;
  std::int64_t size = 1;
  while (size < std::max(it.input.size(2), it.input.size(3)) + kMargins) size *= 2;
  const std::int64_t pictures = it.input.size(0) * (it.input.size(1) + it.output.size(1));
  return pictures * size * size * kComplexBytes + bytes_of(it.output) + kWeightBytes;
}

// Kernels of one point have a gradient of the weight for each picture, in floats, and sum these,
// unless copies of the pictures take less. Found as above.
std::int64_t backward_bytes(const Convolution& it) {
  if (takes_nothing(it)) return 0;
  if (has_transforms(it)) return transform_bytes(it);
  const std::int64_t copies =
      padded(it, bytes_of(it.input)) + bytes_of(it.output) + parts_bytes(it);
  if (it.reach() > 1) return copies + padded(it, bytes_of(it.weight));
  if (it.is_strided) return copies;
  const std::int64_t of_pictures = it.input.size(0) * it.weight.numel() * kFloatBytes;
  return std::min(copies, of_pictures);
}

// For the gradient of the input, which comes before that of the weight.
std::int64_t input_gradient_bytes(const Convolution& it) {
  if (it.is_by_channel()) return 0;
  const std::int64_t copies = bytes_of(it.input) + bytes_of(it.output);
  if (it.reach() > 1) return copies + bytes_of(it.weight);
  return it.is_strided || it.has_odd_pictures() ? copies : 0;
}

Convolution forward_of(const OpCall& call) {
  return {.input = call.argument(0),
          .weight = call.argument(1),
          .output = call.result(0),
          .is_strided = !is_one(call.arguments[3]),
          .groups = call.arguments[8].toInt()};
}

Convolution backward_of(const OpCall& call) {
  return {.input = call.argument(1),
          .weight = call.argument(2),
          .output = call.argument(0),
          .is_strided = !is_one(call.arguments[4]),
          .groups = call.arguments[9].toInt()};
}

// Sums down the columns of a matrix, as for the gradient of a bias: parts of columns go to several
// blocks of threads, each of which has a place in a buffer for all it could hold. As torch's
// Reduce.cuh configures itself, for vectors of four.
std::int64_t column_sum_bytes(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kVector = 4, kWidth = 32, kHeight = 4, kLeast = 16, kMost = 256;
  constexpr std::int64_t kProcessors = 132, kThreadsEach = 2048;  // of an H200
  if (columns % kVector != 0 || columns / kVector < kWidth) return 0;
  const std::int64_t values = ceiled(rows, kHeight);
  if (rows < kHeight * kLeast || values < kMost) return 0;
  const std::int64_t blocks = ceiled(columns / kVector, kWidth);
  const std::int64_t wanted = kProcessors * (kThreadsEach / (kWidth * kHeight));
  if (blocks > wanted) return 0;
  const std::int64_t parts =
      std::max(std::min(ceiled(wanted, blocks), ceiled(values, kLeast)), ceiled(values, kMost));
  return parts == 1 ? 0 : kFloatBytes * columns * parts * kWidth * kVector;
}

std::int64_t sum_bytes(const OpCall& call) {
  const at::Tensor &input = call.argument(0), &result = call.result(0);
  const std::int64_t last = input.dim() == 0 ? 1 : input.size(-1);
  const bool has_axes = call.arguments.size() > 1 && call.arguments[1].isIntList();
  const bool is_down = has_axes && input.dim() > 1 && input.is_contiguous() &&
                       !call.arguments[1].toIntVector().empty() &&
                       call.arguments[1].toIntVector().front() == 0 && result.numel() == last;
  return is_down && last > 0 ? column_sum_bytes(input.numel() / last, last) : 0;
}

// Few indices are added one by one; more are sorted first, and sums of neighbours written down.
std::int64_t embedding_bytes(const OpCall& call) {
  constexpr std::int64_t kFew = 3072;
  const at::Tensor &gradient = call.argument(0), &indices = call.argument(1);
  return indices.numel() <= kFew ? 0 : kFloatBytes * gradient.numel();
}

// cuDNN sums the gradient of queries in floats, beside a number for each row of scores.
std::int64_t cudnn_attention_bytes(const OpCall& call) {
  return kFloatBytes * call.argument(1).numel() + bytes_of(call.argument(5));
}

// The product of the result and its gradient, before it is summed along rows.
std::int64_t efficient_attention_bytes(const OpCall& call) { return bytes_of(call.argument(5)); }

}  // namespace

std::int64_t gpu_workspace_bytes(const std::string& op, const OpCall& call) {
  if (op == "aten::convolution") return forward_bytes(forward_of(call));
  if (op == "aten::convolution_backward") return backward_bytes(backward_of(call));
  if (op == "aten::sum") return sum_bytes(call);
  if (op == "aten::embedding_dense_backward") return embedding_bytes(call);
  if (op == "aten::_scaled_dot_product_cudnn_attention_backward") {
    return cudnn_attention_bytes(call);
  }
  if (op == "aten::_scaled_dot_product_efficient_attention_backward") {
    return efficient_attention_bytes(call);
  }
  return 0;
}

std::int64_t gpu_early_workspace_bytes(const std::string& op, const OpCall& call) {
  if (op != "aten::convolution_backward" || !call.result(0).defined()) return 0;
  return input_gradient_bytes(backward_of(call));
}

}  // namespace lowtide::estimate
