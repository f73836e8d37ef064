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

Values convolution(const OnnxCall& call, bool transposed) {
  const Tensor weight = call.tensor(1);
  const Window window = window_of(call, kernel_of_weight(weight));
  const std::int64_t groups = call.integer("group", 1);
  LT_REQUIRE(groups > 0, "a convolution has ", groups, " groups");
  const Integers more = call.integers("output_padding", Integers(window.kernel.size(), 0));
  LT_REQUIRE(more.size() == window.kernel.size(), "a convolution has an output_padding of ",
             more.size(), " axes");
  for (const std::int64_t pad : more) require_offset(call, pad);
  return one(at::convolution(window.input, weight, call.tensor_or_none(2), window.stride,
                             window.padding, window.dilation, transposed, more, groups));
}

Values max_pool(const OnnxCall& call) {
  const Window window = window_of(call, call.integers("kernel_shape", Integers()));
  const bool is_ceiled = call.integer("ceil_mode", 0) != 0;
  const auto results_of = [&](auto function) {
    auto [result, places] = function(window.input, window.kernel, window.stride, window.padding,
                                     window.dilation, is_ceiled);
    return Values{{.tensor = result}, {.tensor = places}};
  };
  switch (window.kernel.size()) {
    case 1:
      return results_of(
          [](auto&&... arguments) { return at::max_pool1d_with_indices(arguments...); });
    case 2:
      return results_of(
          [](auto&&... arguments) { return at::max_pool2d_with_indices(arguments...); });
    case 3:
      return results_of(
          [](auto&&... arguments) { return at::max_pool3d_with_indices(arguments...); });
    default:
      throw OnnxUnknown("the op 'MaxPool' is known of up to three axes");
  }
}

Values average_pool(const OnnxCall& call) {
  const Window window = window_of(call, call.integers("kernel_shape", Integers()));
  const bool is_ceiled = call.integer("ceil_mode", 0) != 0;
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  const auto result_of = [&](auto function) {
    return one(function(window.input, window.kernel, window.stride, window.padding, is_ceiled,
                        counts_padding));
  };
  switch (window.kernel.size()) {
    case 1:
      return result_of([](auto&&... arguments) { return at::avg_pool1d(arguments...); });
    case 2:
      return result_of([](auto&&... arguments) { return at::avg_pool2d(arguments...); });
    case 3:
      return result_of([](auto&&... arguments) { return at::avg_pool3d(arguments...); });
    default:
      throw OnnxUnknown("the op 'AveragePool' is known of up to three axes");
  }
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

// Before opset 13 an axis meant everything from there on.
std::int64_t softmax_axis(const OnnxCall& call) {
  return call.integer("axis", call.opset < 13 ? 1 : -1);
}

Values dropout(const OnnxCall& call) {
  double share = call.number("ratio", 0.5);
  if (call.has(1) && call.inputs[1].floats && !call.inputs[1].floats->empty()) {
    share = double{call.inputs[1].floats->front()};
  }
  Values results = one(at::dropout(call.tensor(0), share, /*train=*/true));
  results.resize(std::max<std::size_t>(call.node.outputs.size(), 1));
  return results;
}

}  // namespace

void add_layer_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(
      ops.end(),
      {{"Conv", [](const OnnxCall& call) { return convolution(call, false); }},
       {"ConvTranspose", [](const OnnxCall& call) { return convolution(call, true); }},
       {"MaxPool", max_pool},
       {"AveragePool", average_pool},
       {"GlobalAveragePool", global_pool},
       {"GlobalMaxPool", global_pool},
       {"Gemm", gemm},
       {"MatMul",
        [](const OnnxCall& call) { return one(at::matmul(call.tensor(0), call.tensor(1))); }},
       {"Softmax",
        [](const OnnxCall& call) { return one(at::softmax(call.tensor(0), softmax_axis(call))); }},
       {"LogSoftmax",
        [](const OnnxCall& call) {
          return one(at::log_softmax(call.tensor(0), softmax_axis(call)));
        }},
       {"Dropout", dropout}});
}

}  // namespace lowtide::estimate
