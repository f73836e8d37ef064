// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// The shapes that ops give which go entry by entry and whose functions for the device `meta` torch
// has in Python only. tests/estimate holds them against torch's kernels.

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::Tensor;

Tensor like(const Tensor& input) { return at::empty_like(input); }
Tensor flipped(const Tensor& input, at::IntArrayRef) { return like(input); }
Tensor clipped(const Tensor& input, const at::Scalar&, const at::Scalar&) { return like(input); }
Tensor gradient(const Tensor&, const Tensor& input) { return like(input); }
Tensor truth(const Tensor& input) {
  return at::empty_like(input, input.options().dtype(at::kBool));
}
Tensor truth_of_both(const Tensor& a, const Tensor& b) {
  return at::empty(at::infer_size(a.sizes(), b.sizes()), a.options().dtype(at::kBool));
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("abs", TORCH_FN(like));
  library.impl("flip", TORCH_FN(flipped));
  library.impl("hardtanh", TORCH_FN(clipped));
  library.impl("hardswish", TORCH_FN(like));
  library.impl("hardswish_backward", TORCH_FN(gradient));
  library.impl("isnan", TORCH_FN(truth));
  library.impl("logical_not", TORCH_FN(truth));
  library.impl("logical_and", TORCH_FN(truth_of_both));
  library.impl("logical_or", TORCH_FN(truth_of_both));
  library.impl("logical_xor", TORCH_FN(truth_of_both));
}

}  // namespace
}  // namespace lowtide::estimate
