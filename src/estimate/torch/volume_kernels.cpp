// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// The shapes that pools of volumes give, whose functions for the device `meta` torch has in Python
// only. Sizes are as torch 2.11's kernels make them; tests/estimate holds them against the real
// ones.

#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::IntArrayRef;
using at::Tensor;

constexpr std::int64_t kInnerAxes = 3;

std::int64_t at_or_only(IntArrayRef values, std::int64_t i) {
  return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(i)];
}

// The last window may hang over the end if it is asked for, but must begin before it.
std::int64_t pooled_size(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                         std::int64_t padding, std::int64_t dilation, bool is_ceiled) {
  TORCH_CHECK(stride > 0 && kernel > 0 && dilation > 0, "a pool's sizes must be at least 1");
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  const std::int64_t room = size + 2 * padding - reach;
  TORCH_CHECK(room >= 0, "a pool's input is smaller than its kernel");
  const std::int64_t count = (room + (is_ceiled ? stride - 1 : 0)) / stride + 1;
  const bool begins_behind = is_ceiled && (count - 1) * stride >= size + padding;
  return begins_behind ? count - 1 : count;
}

std::tuple<Tensor, Tensor> max_pool3d(const Tensor& input, IntArrayRef kernel, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool is_ceiled) {
  TORCH_CHECK(input.dim() > kInnerAxes, "a pool of volumes has an input of ", input.dim(), " axes");
  std::vector<std::int64_t> sizes = input.sizes().vec();
  const IntArrayRef steps = stride.empty() ? kernel : stride;
  for (std::int64_t i = 0; i < kInnerAxes; ++i) {
    std::int64_t& size = sizes[sizes.size() - static_cast<std::size_t>(kInnerAxes - i)];
    size = pooled_size(size, at_or_only(kernel, i), at_or_only(steps, i), at_or_only(padding, i),
                       at_or_only(dilation, i), is_ceiled);
  }
  return {at::empty(sizes, input.options()), at::empty(sizes, input.options().dtype(at::kLong))};
}

Tensor max_pool3d_backward(const Tensor&, const Tensor& input, IntArrayRef, IntArrayRef,
                           IntArrayRef, IntArrayRef, bool, const Tensor&) {
  return at::empty_like(input, at::MemoryFormat::Contiguous);
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("max_pool3d_with_indices", TORCH_FN(max_pool3d));
  library.impl("max_pool3d_with_indices_backward", TORCH_FN(max_pool3d_backward));
}

}  // namespace
}  // namespace lowtide::estimate
