// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace lowtide::decompose {
namespace {

constexpr int kProducts = 50;
constexpr std::int64_t kFewestRows = 16;
// The largest value of a finite random matrix varies around the limit.
constexpr double kMargin = 1.1;

// By powers: no more than it, and close to it where it stands out.
double largest_singular_value(const at::Tensor& matrix) {
  at::Generator generator = at::detail::createCPUGenerator(/*seed=*/1);
  at::Tensor vector = at::randn({matrix.size(1)}, generator, at::kDouble).to(matrix.device());
  for (int i = 0; i < kProducts; ++i) {
    vector = matrix.t().mv(matrix.mv(vector / vector.norm()));
  }
  return std::sqrt(vector.norm().item<double>());
}

}  // namespace

bool is_noise(const at::Tensor& weight) {
  const at::NoGradGuard no_grad;
  const at::Tensor matrix = weight.detach().to(at::kDouble).flatten(1);
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  if (std::min(rows, columns) < kFewestRows) return false;
  const double deviation =
      matrix.norm().item<double>() / std::sqrt(static_cast<double>(rows * columns));
  const double edge =
      deviation * (std::sqrt(static_cast<double>(rows)) + std::sqrt(static_cast<double>(columns)));
  return largest_singular_value(matrix) <= kMargin * edge;
}

}  // namespace lowtide::decompose
