// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that make networks, as torch's functions for the same.

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

// How a kernel goes over the axes of a picture.
struct Window {
  Integers kernel, stride, dilation;
  // Where both sides of an axis have the same padding; else the input was padded before.
  Integers padding;
  Tensor input;
};

// Padding before and behind each axis, by rules that give a result of input / stride.
Integers automatic_pads(const OnnxCall& call, const Tensor& input, const Window& window) {
  const std::size_t axes = window.kernel.size();
  Integers pads(2 * axes, 0);
  const OnnxAttribute* rule = call.attribute("auto_pad");
  if (rule == nullptr || !rule->text.starts_with("SAME")) return call.integers("pads", pads);
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = input.size(static_cast<std::int64_t>(i) + 2);
    const std::int64_t results = (size + window.stride[i] - 1) / window.stride[i];
    const std::int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    const std::int64_t total =
        std::max<std::int64_t>(0, (results - 1) * window.stride[i] + reach - size);
    pads[i] = rule->text == "SAME_LOWER" ? total - total / 2 : total / 2;
    pads[i + axes] = total - pads[i];
  }
  return pads;
}

Window window_of(const OnnxCall& call, Integers kernel) {
  const std::size_t axes = kernel.size();
  Window window;
  window.input = call.tensor(0);
  window.kernel = std::move(kernel);
  window.stride = call.integers("strides", Integers(axes, 1));
  window.dilation = call.integers("dilations", Integers(axes, 1));
  LT_REQUIRE(axes > 0 && window.input.dim() == static_cast<std::int64_t>(axes) + 2 &&
                 window.stride.size() == axes && window.dilation.size() == axes,
             "the op ", call.node.op, " '", call.node.name, "' does not fit its input's axes");
  for (std::size_t i = 0; i < axes; ++i) {
    LT_REQUIRE(window.stride[i] > 0 && window.dilation[i] > 0 && window.kernel[i] > 0, "the op ",
               call.node.op, " '", call.node.name, "' has a stride, dilation or kernel below 1");
    for (const Integers* row : {&window.stride, &window.dilation, &window.kernel}) {
      require_offset(call, (*row)[i]);
    }
  }
  const Integers pads = automatic_pads(call, window.input, window);
  for (const std::int64_t pad : pads) require_offset(call, pad);
  LT_REQUIRE(pads.size() == 2 * axes, "the op ", call.node.op, " '", call.node.name,
             "' has pads for other axes than its input's");
  Integers outer;
  for (std::size_t i = axes; i-- > 0;) outer.insert(outer.end(), {pads[i], pads[i + axes]});
  const bool is_even = std::equal(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes),
                                  pads.begin() + static_cast<std::ptrdiff_t>(axes));
  if (!is_even) window.input = at::constant_pad_nd(window.input, outer);
  window.padding = is_even
                       ? Integers(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes))
                       : Integers(axes, 0);
  return window;
}

Integers kernel_of_weight(const Tensor& weight) {
  LT_REQUIRE(weight.dim() >= 3, "a convolution's weight has ", weight.dim(), " axes");
  return {weight.sizes().begin() + 2, weight.sizes().end()};
}

Tensor bias_or_none(const OnnxCall& call, std::size_t i) {
  return call.has(i) ? call.tensor(i) : Tensor();
}

Values convolution(const OnnxCall& call, bool transposed) {
  const Tensor weight = call.tensor(1);
  const Window window = window_of(call, kernel_of_weight(weight));
  const std::int64_t groups = call.integer("group", 1);
  LT_REQUIRE(groups > 0, "a convolution has ", groups, " groups");
  const Integers more = call.integers("output_padding", Integers(window.kernel.size(), 0));
  LT_REQUIRE(more.size() == window.kernel.size(), "a convolution has an output_padding of ",
             more.size(), " axes");
  for (const std::int64_t pad : more) require_offset(call, pad);
  return one(at::convolution(window.input, weight, bias_or_none(call, 2), window.stride,
                             window.padding, window.dilation, transposed, more, groups));
}

// A row is a picture of height 1.
Values pool(const OnnxCall& call, bool is_max) {
  const Window window = window_of(call, call.integers("kernel_shape", Integers()));
  if (window.kernel.size() != 2) {
    throw OnnxUnknown(base::concat("the op '", call.node.op, "' is known for pictures only"));
  }
  const bool is_ceiled = call.integer("ceil_mode", 0) != 0;
  if (!is_max) {
    return one(at::avg_pool2d(window.input, window.kernel, window.stride, window.padding, is_ceiled,
                              call.integer("count_include_pad", 0) != 0));
  }
  return one(at::max_pool2d(window.input, window.kernel, window.stride, window.padding,
                            window.dilation, is_ceiled));
}

Values global_pool(const OnnxCall& call) {
  Integers axes;
  for (std::int64_t axis = 2; axis < call.tensor(0).dim(); ++axis) axes.push_back(axis);
  return one(call.node.op == "GlobalMaxPool" ? at::amax(call.tensor(0), axes, /*keepdim=*/true)
                                             : at::mean(call.tensor(0), axes, /*keepdim=*/true));
}

Values gemm(const OnnxCall& call) {
  Tensor a = call.tensor(0), b = call.tensor(1);
  if (call.integer("transA", 0) != 0) a = a.t();
  if (call.integer("transB", 0) != 0) b = b.t();
  return one(call.has(2) ? at::addmm(call.tensor(2), a, b) : at::mm(a, b));
}

Values batch_norm(const OnnxCall& call) {
  return one(at::batch_norm(call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(3),
                            call.tensor(4), /*training=*/true, 0.1, call.number("epsilon", 1e-5),
                            /*cudnn_enabled=*/true));
}

Values layer_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t axis = call.integer("axis", -1);
  const std::int64_t first = axis < 0 ? axis + input.dim() : axis;
  LT_REQUIRE(first >= 0 && first < input.dim(), "a layer norm has the axis ", axis);
  const Integers shape(input.sizes().begin() + first, input.sizes().end());
  return one(at::layer_norm(input, shape, bias_or_none(call, 1), bias_or_none(call, 2),
                            call.number("epsilon", 1e-5)));
}

// Local response normalisation as torch's functional has it: from ops of their own.
Values local_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t size = call.integer("size", 5);
  LT_REQUIRE(input.dim() == 4 && size > 0, "LRN is known for pictures only");
  require_offset(call, size);
  const Tensor squares = at::mul(input, input).unsqueeze(1);
  const Tensor padded = at::constant_pad_nd(squares, {0, 0, 0, 0, size / 2, (size - 1) / 2});
  const Tensor sums = at::avg_pool3d(padded, {size, 1, 1}, {1, 1, 1}).squeeze(1);
  return one(at::div(input, sums.mul(call.number("alpha", 1e-4)).add(1).pow(0.75)));
}

// Before opset 13 an axis meant everything from there on.
std::int64_t softmax_axis(const OnnxCall& call) {
  return call.integer("axis", call.opset < 13 ? 1 : -1);
}

Values dropout(const OnnxCall& call) {
  const double share = call.number("ratio", 0.5);
  Values results = one(at::dropout(call.tensor(0), share, /*train=*/true));
  results.resize(std::max<std::size_t>(call.node.outputs.size(), 1));
  return results;
}

Values instance_norm(const OnnxCall& call) {
  return one(at::instance_norm(call.tensor(0), bias_or_none(call, 1), bias_or_none(call, 2), {}, {},
                               /*use_input_stats=*/true, 0.1, call.number("epsilon", 1e-5),
                               /*cudnn_enabled=*/true));
}

// Sizes, or shares of the input's.
Integers resized(const OnnxCall& call, const Tensor& input) {
  if (call.has(3)) return call.integers(3);
  if (!call.has(2) || !call.inputs[2].floats) {
    throw OnnxUnknown("Resize wants sizes that are only known when the model runs");
  }
  const std::vector<float>& scales = *call.inputs[2].floats;
  LT_REQUIRE(scales.size() == static_cast<std::size_t>(input.dim()), "Resize has scales for ",
             scales.size(), " axes");
  Integers sizes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const double size =
        static_cast<double>(input.size(static_cast<std::int64_t>(i))) * double{scales[i]};
    LT_REQUIRE(size >= 1 && size <= static_cast<double>(kOnnxElements), "Resize has the scale ",
               scales[i]);
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

Values resize(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers sizes = resized(call, input);
  const OnnxAttribute* mode = call.attribute("mode");
  const bool is_nearest = mode == nullptr || mode->text == "nearest";
  if (input.dim() != 4 || sizes.size() != 4 || !(is_nearest || mode->text == "linear")) {
    throw OnnxUnknown("Resize is known for pictures only, and not of third degree");
  }
  const Integers picture = {sizes[2], sizes[3]};
  return one(is_nearest ? at::upsample_nearest2d(input, picture)
                        : at::upsample_bilinear2d(input, picture, /*align_corners=*/false));
}

}  // namespace

void add_layer_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(
      ops.end(),
      {{"Conv", [](const OnnxCall& call) { return convolution(call, false); }},
       {"ConvTranspose", [](const OnnxCall& call) { return convolution(call, true); }},
       {"MaxPool", [](const OnnxCall& call) { return pool(call, true); }},
       {"AveragePool", [](const OnnxCall& call) { return pool(call, false); }},
       {"GlobalAveragePool", global_pool},
       {"GlobalMaxPool", global_pool},
       {"Gemm", gemm},
       {"MatMul",
        [](const OnnxCall& call) { return one(at::matmul(call.tensor(0), call.tensor(1))); }},
       {"BatchNormalization", batch_norm},
       {"LayerNormalization", layer_norm},
       {"LRN", local_norm},
       {"Softmax",
        [](const OnnxCall& call) { return one(at::softmax(call.tensor(0), softmax_axis(call))); }},
       {"LogSoftmax",
        [](const OnnxCall& call) {
          return one(at::log_softmax(call.tensor(0), softmax_axis(call)));
        }},
       {"InstanceNormalization", instance_norm},
       {"Resize", resize},
       {"Dropout", dropout}});
}

}  // namespace lowtide::estimate
