// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/cp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "decompose/linear_algebra.h"

namespace lowtide::decompose {
namespace {

// Between two sweeps, of the relative error.
constexpr double kEnough = 1e-8;
// Of the mean of the normal matrix's diagonal: it may be singular.
constexpr double kRidge = 1e-10;
constexpr double kLeastRidge = 1e-150;
constexpr double kHealthyDegeneracy = 10;
constexpr int kCorrectionSweeps = 20;
constexpr int kBisections = 40;
constexpr double kCorrectionSlack = 0.002;
// Least squares end in different places from different starts; the seeds of random ones.
constexpr std::uint64_t kSeeds[] = {1, 2, 3};
// Elements times rank, as of 256 x 256 x 9 at half of its parameters: from there on each start
// takes long, and the errors that they end at differ by a hundredth.
constexpr double kLarge = 1e8;
// Closer than that is as good as exact, and room for shorter terms.
constexpr double kExact = 1e-3;

using Factors = std::vector<at::Tensor>;

// What one factor is fitted to while the others stay.
struct Fit {
  // The unfolded tensor times the Khatri-Rao product of the others, and that product's Gram matrix.
  at::Tensor target, gram;
};

at::Tensor khatri_rao(const Factors& factors, std::size_t without) {
  at::Tensor result;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i == without) continue;
    const at::Tensor& next = factors[i];
    result = result.defined() ? (result.unsqueeze(1) * next.unsqueeze(0)).flatten(0, 1) : next;
  }
  return result;
}

Fit fit_of(const at::Tensor& unfolded, const Factors& factors, std::size_t dimension) {
  const std::int64_t rank = factors[0].size(1);
  Fit fit = {unfolded.matmul(khatri_rao(factors, dimension)),
             at::ones({rank, rank}, unfolded.options())};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i != dimension) fit.gram = fit.gram * factors[i].t().matmul(factors[i]);
  }
  return fit;
}

// target (gram + diagonal)^-1.
at::Tensor solve(const Fit& fit, const at::Tensor& diagonal) {
  // Above nothing even where all terms have died out, as some do from a start that is off.
  const at::Tensor ridge = (kRidge * fit.gram.diagonal().mean()).clamp_min(kLeastRidge);
  return at::linalg_solve(fit.gram + at::diag(diagonal + ridge), fit.target, /*left=*/false);
}

double squared_error(const Fit& fit, const at::Tensor& factor, double squared_norm) {
  const double cross = (factor * fit.target).sum().item<double>();
  const double own = (factor.t().matmul(factor) * fit.gram).sum().item<double>();
  return std::max(squared_norm - 2 * cross + own, 0.0);
}

at::Tensor squared_lengths(const at::Tensor& factor) { return factor.square().sum(0); }

// Gives the columns of a term the same length in all factors.
void balance(Factors& factors) {
  at::Tensor product = at::ones({factors[0].size(1)}, factors[0].options());
  for (const at::Tensor& factor : factors) product = product * squared_lengths(factor).sqrt();
  const at::Tensor wanted = product.pow(1.0 / static_cast<double>(factors.size()));
  for (at::Tensor& factor : factors) {
    factor = factor * (wanted / squared_lengths(factor).sqrt().clamp_min(1e-150));
  }
}

double degeneracy_of(const Factors& factors) {
  at::Tensor lengths = at::ones({factors[0].size(1)}, factors[0].options());
  at::Tensor products = at::ones({factors[0].size(1), factors[0].size(1)}, factors[0].options());
  for (const at::Tensor& factor : factors) {
    lengths = lengths * squared_lengths(factor);
    products = products * factor.t().matmul(factor);
  }
  return lengths.sum().item<double>() / std::max(products.sum().item<double>(), 1e-300);
}

// Singular vectors, and random columns where a dimension has too few of them.
Factors first_factors(const at::Tensor& tensor, std::int64_t rank, std::uint64_t seed,
                      bool from_singular_vectors) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  Factors factors;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    at::Tensor factor =
        at::randn({tensor.size(i), rank}, generator, at::kDouble).to(tensor.device());
    const std::int64_t known = std::min(rank, tensor.size(i));
    if (from_singular_vectors) {
      factor.slice(1, 0, known).copy_(leading_vectors(unfold(tensor, i), known));
    }
    factors.push_back(std::move(factor));
  }
  return factors;
}

Cp alternate(const at::Tensor& tensor, Factors factors, int most_sweeps) {
  std::vector<at::Tensor> unfolded;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) unfolded.push_back(unfold(tensor, i));
  const double squared_norm = tensor.square().sum().item<double>();
  const at::Tensor nothing = at::zeros({factors[0].size(1)}, tensor.options());
  double error = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double squared = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const Fit fit = fit_of(unfolded[i], factors, i);
      factors[i] = solve(fit, nothing);
      squared = squared_error(fit, factors[i], squared_norm);
    }
    balance(factors);
    const double now = std::sqrt(squared / squared_norm);
    const bool is_enough = std::abs(error - now) < kEnough;
    error = now;
    if (is_enough) break;
  }
  const double degeneracy = degeneracy_of(factors);
  return {std::move(factors), error, degeneracy};
}

// The factor with the shortest terms that keeps the error; as it is if none does.
at::Tensor shortest(const Fit& fit, const at::Tensor& factor, const at::Tensor& lengths,
                    double squared_norm, double allowed) {
  const double scale =
      fit.gram.diagonal().mean().item<double>() / std::max(lengths.mean().item<double>(), 1e-300);
  at::Tensor best = factor;
  double low = std::log(1e-14), high = std::log(1e2);
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    const at::Tensor candidate = solve(fit, lengths * (scale * std::exp(middle)));
    const bool holds = squared_error(fit, candidate, squared_norm) <= allowed;
    (holds ? low : high) = middle;
    if (holds) best = candidate;
  }
  return best;
}

Cp best_of_random_starts(const at::Tensor& tensor, std::int64_t rank, int most_sweeps, Cp best) {
  for (const std::uint64_t seed : kSeeds) {
    Cp other = alternate(tensor, first_factors(tensor, rank, seed, false), most_sweeps);
    if (other.relative_error < best.relative_error) best = std::move(other);
  }
  return best;
}

}  // namespace

Cp correct(const at::Tensor& tensor, Cp cp, double slack) {
  const double squared_norm = tensor.square().sum().item<double>();
  const double bound = std::max(cp.relative_error * (1 + slack), kExact);
  const double allowed = bound * bound * squared_norm;
  for (int sweep = 0; sweep < kCorrectionSweeps; ++sweep) {
    const double before = cp.degeneracy;
    for (std::size_t i = 0; i < cp.factors.size(); ++i) {
      const Fit fit = fit_of(unfold(tensor, static_cast<std::int64_t>(i)), cp.factors, i);
      // The others' part in the norm of each term.
      const at::Tensor lengths = fit.gram.diagonal().clone();
      cp.factors[i] = shortest(fit, cp.factors[i], lengths, squared_norm, allowed);
      cp.relative_error = std::sqrt(squared_error(fit, cp.factors[i], squared_norm) / squared_norm);
    }
    balance(cp.factors);
    cp.degeneracy = degeneracy_of(cp.factors);
    if (cp.degeneracy > 0.99 * before) break;
  }
  return cp;
}

Cp cp(const at::Tensor& tensor, std::int64_t rank, int most_sweeps) {
  Cp best = alternate(tensor, first_factors(tensor, rank, kSeeds[0], true), most_sweeps);
  const bool is_large = static_cast<double>(tensor.numel()) * static_cast<double>(rank) > kLarge;
  if (!is_large) best = best_of_random_starts(tensor, rank, most_sweeps, std::move(best));
  if (best.degeneracy > kHealthyDegeneracy) return correct(tensor, best, kCorrectionSlack);
  return best;
}

}  // namespace lowtide::decompose
