// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/gpu_convolutions.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace lowtide::estimate {
namespace {

constexpr std::int64_t kFloatBytes = 4;
// What a processor sums at a time: so many rows by so many columns, in floats.
constexpr std::int64_t kTile = 128, kTileBytes = kTile * kTile * kFloatBytes;

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

// There are kernels for few channels that read them as they are: any single one (LeNet-5's), and
// others if the weight is small.
bool takes_nothing(const Convolution& it) {
  if (it.is_by_channel() || it.input.size(1) == 1) return true;
  return it.input.size(1) < kFewChannels && it.reach() <= kSmallKernel;
}

// All processors sum a tile of the result each, again and again. Where the last time only some of
// them would have one to sum, cuDNN shares these tiles out: each is summed in parts, as many as
// there are processors for, but at least two, which lie in floats beside the copies. Found in the
// recorded steps of an H200 (more parts than two: in AlexNet's peak), and not said by anyone; where
// it happens is guessed by how many would be idle.
std::int64_t shared_tiles_bytes(const Convolution& it, const Architecture& gpu) {
  constexpr double kBusy = 0.8;
  const std::int64_t channels = it.output.size(1);
  if (is_short(it) || it.reach() < kSmallKernel || it.output.dim() != 4) return 0;
  if (channels < kTile) return 0;
  const std::int64_t rows = it.output.numel() / channels, across = ceiled(channels, kTile);
  const std::int64_t tiles = ceiled(rows, kTile) * across, left = tiles % gpu.processors;
  if (tiles < gpu.processors || left == 0) return 0;
  const std::int64_t busy = ceiled(rows, 2 * kTile) * across % gpu.processors;
  if (busy == 0 || static_cast<double>(busy) >= kBusy * static_cast<double>(gpu.processors))
    return 0;
  return left * std::max<std::int64_t>(2, gpu.processors / left) * kTileBytes;
}

// From 64 to 128 channels the result is written as torch wants it (VGG's and the U-Net's).
bool needs_no_result(const Convolution& it) {
  return it.input.size(1) == kTile / 2 && it.output.size(1) == kTile && !is_short(it) &&
         !it.is_strided;
}

// cuDNN's kernels want pictures with their channels last, and torch's have them first: it copies
// input, weight and result, and makes up to 4 channels of fewer, or 8 in 16 bits, though not for
// the 7 by 7 of residual nets in floats. Kernels of one point need no copy unless they leave points
// out or pictures are of an odd size. Found in the workspaces of steps on an H200 (torch 2.11).
std::int64_t forward_bytes(const Convolution& it, const Architecture& gpu) {
  constexpr std::int64_t kUnpadded = 7, kManyChannels = 512;
  if (takes_nothing(it)) return 0;
  const std::int64_t reach = it.reach();
  const std::int64_t input = bytes_of(it.input), weight = bytes_of(it.weight);
  if (reach == kUnpadded && !is_short(it)) return input + weight + bytes_of(it.output);
  if (reach > 1 && needs_no_result(it)) return input + weight;
  if (reach > 1) {
    return padded(it, input) + padded(it, weight) + bytes_of(it.output) +
           shared_tiles_bytes(it, gpu);
  }
  if (it.is_strided && !is_short(it) && it.output.size(1) <= kManyChannels) return input + weight;
  return it.is_strided || it.has_odd_pictures() ? input + bytes_of(it.output) : 0;
}

// A weight's gradient has few tiles, so each is summed in as many parts as there are processors
// for, which are added in the end; none in 16 bits. Kernels of more than one point have 14 parts at
// most, those for few channels 120, and what has more tiles than half the processors is cut
// differently.
std::int64_t parts_bytes(const Convolution& it, const Architecture& gpu) {
  constexpr std::int64_t kMostParts = 14, kMostPartsOfFew = 120;
  if (is_short(it)) return 0;
  const std::int64_t weight = bytes_of(it.weight);
  if (it.input.size(1) < kFewChannels) {
    return std::min(kMostPartsOfFew * padded(it, weight), gpu.processors * kTileBytes);
  }
  const std::int64_t tiles = std::max<std::int64_t>(1, ceiled(weight, kTileBytes));
  const std::int64_t parts = gpu.processors / tiles;
  if (it.reach() == 1) return parts > 1 ? parts * weight : 0;
  if (tiles > 2 * gpu.processors) return 0;
  if (tiles > gpu.processors) return gpu.processors * kTileBytes;
  if (parts == 1) return gpu.processors / 2 * kTileBytes;
  return std::min(parts, kMostParts) * weight;
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
std::int64_t backward_bytes(const Convolution& it, const Architecture& gpu) {
  if (takes_nothing(it)) return 0;
  if (has_transforms(it)) return transform_bytes(it);
  const std::int64_t copies =
      padded(it, bytes_of(it.input)) + bytes_of(it.output) + parts_bytes(it, gpu);
  if (it.reach() > 1) return copies + padded(it, bytes_of(it.weight));
  if (it.is_strided) return copies;
  const std::int64_t of_pictures = it.input.size(0) * it.weight.numel() * kFloatBytes;
  return std::min(copies, of_pictures);
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

}  // namespace

std::int64_t forward_convolution_bytes(const OpCall& call, const Architecture& gpu) {
  return forward_bytes(forward_of(call), gpu);
}

std::int64_t weight_gradient_bytes(const OpCall& call, const Architecture& gpu) {
  return backward_bytes(backward_of(call), gpu);
}

std::int64_t input_gradient_bytes(const OpCall& call) {
  const Convolution it = backward_of(call);
  if (it.is_by_channel()) return 0;
  const std::int64_t copies = bytes_of(it.input) + bytes_of(it.output);
  if (it.reach() > 1) return copies + bytes_of(it.weight);
  return it.is_strided || it.has_odd_pictures() ? copies : 0;
}

}  // namespace lowtide::estimate
