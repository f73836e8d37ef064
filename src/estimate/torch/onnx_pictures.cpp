// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that make pictures larger or smaller, as torch's functions for the same.

#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

// Shares of the input's sizes: an attribute or, from opset 9 on, an input, which an input for
// shares of what is read may stand before.
std::optional<std::vector<float>> scales_of(const OnnxCall& call) {
  if (const OnnxAttribute* scales = call.attribute("scales")) return scales->numbers;
  const std::size_t place = call.node.op == "Upsample" || call.opset < 11 ? 1 : 2;
  if (!call.has(place) || !call.inputs[place].floats) return std::nullopt;
  if (call.inputs[place].floats->empty()) return std::nullopt;
  return call.inputs[place].floats;
}

std::int64_t scaled(std::int64_t size, float scale) {
  const double result = static_cast<double>(size) * double{scale};
  LT_REQUIRE(result >= 1 && result <= static_cast<double>(kOnnxElements), "Resize has the scale ",
             scale);
  return static_cast<std::int64_t>(result);
}

// From opset 18 on of some axes only.
Integers resized(const OnnxCall& call, const Tensor& input) {
  Integers axes;
  for (std::int64_t i = 0; i < input.dim(); ++i) axes.push_back(i);
  axes = call.integers("axes", axes);
  Integers sizes = input.sizes().vec();
  const bool has_sizes = call.opset >= 11 && call.has(3);
  const Integers asked = has_sizes ? call.integers(3) : Integers();
  const std::optional<std::vector<float>> scales = has_sizes ? std::nullopt : scales_of(call);
  if (!has_sizes && !scales) {
    throw OnnxUnknown(base::concat("the op '", call.node.op,
                                   "' wants sizes that are only known when the model runs"));
  }
  const std::size_t told = has_sizes ? asked.size() : scales->size();
  LT_REQUIRE(told == axes.size(), "the op ", call.node.op, " '", call.node.name, "' has sizes for ",
             told, " of ", axes.size(), " axes");
  for (std::size_t i = 0; i < told; ++i) {
    LT_REQUIRE(axes[i] >= -input.dim() && axes[i] < input.dim(), "the op ", call.node.op,
               " has the axis ", axes[i]);
    std::int64_t& size =
        sizes[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + input.dim() : axes[i])];
    size = has_sizes ? asked[i] : scaled(size, (*scales)[i]);
  }
  return sizes;
}

Tensor nearest(const Tensor& input, const Integers& inner) {
  switch (inner.size()) {
    case 1:
      return at::upsample_nearest1d(input, inner);
    case 2:
      return at::upsample_nearest2d(input, inner);
    default:
      return at::upsample_nearest3d(input, inner);
  }
}

Tensor linear(const Tensor& input, const Integers& inner) {
  switch (inner.size()) {
    case 1:
      return at::upsample_linear1d(input, inner, /*align_corners=*/false);
    case 2:
      return at::upsample_bilinear2d(input, inner, /*align_corners=*/false);
    default:
      return at::upsample_trilinear3d(input, inner, /*align_corners=*/false);
  }
}

Values resize(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers sizes = resized(call, input);
  const OnnxAttribute* mode = call.attribute("mode");
  const std::string way = mode == nullptr ? "nearest" : mode->text;
  constexpr std::int64_t kFewest = 3, kMost = 5, kPicture = 4;
  const bool keeps_channels = input.dim() >= kFewest && input.dim() <= kMost &&
                              sizes[0] == input.size(0) && sizes[1] == input.size(1);
  if (!keeps_channels || (way == "cubic" && input.dim() != kPicture)) {
    throw OnnxUnknown(base::concat("the op '", call.node.op,
                                   "' is known for one to three axes "
                                   "behind the channels, cubic for two"));
  }
  const Integers inner(sizes.begin() + 2, sizes.end());
  if (way == "cubic") return one(at::upsample_bicubic2d(input, inner, /*align_corners=*/false));
  return one(way == "nearest" ? nearest(input, inner) : linear(input, inner));
}

std::int64_t block_of(const OnnxCall& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  LT_REQUIRE(block > 0, "the op ", call.node.op, " has blocks of ", block);
  require_offset(call, block);
  return block;
}

Values depth_to_space(const OnnxCall& call) {
  return one(at::pixel_shuffle(call.tensor(0), block_of(call)));
}

Values space_to_depth(const OnnxCall& call) {
  return one(at::pixel_unshuffle(call.tensor(0), block_of(call)));
}

}  // namespace

void add_picture_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"Resize", resize},
                         {"Upsample", resize},
                         {"DepthToSpace", depth_to_space},
                         {"SpaceToDepth", space_to_depth}});
}

}  // namespace lowtide::estimate
