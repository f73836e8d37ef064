// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/ranks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/ATen.h>

#include "base/check.h"
#include "decompose/factors.h"
#include "decompose/linear_algebra.h"

namespace lowtide::decompose {
namespace {

constexpr std::int64_t kTile = 8;
// Rounding a smaller rank would cost a large share.
constexpr std::int64_t kSmallestRounded = 16;
constexpr int kBisections = 60;

std::vector<double> as_numbers(const at::Tensor& tensor) {
  const at::Tensor values = tensor.cpu().contiguous();
  const double* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

double sum_of_squares(const std::vector<double>& values, std::size_t from = 0) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(), 0.0,
                         [](double sum, double value) { return sum + value * value; });
}

std::int64_t elements(const Spectrum& spectrum) { return c10::multiply_integers(spectrum.sizes); }

// Of a form that has the same rank everywhere.
std::int64_t most_rank(const Spectrum& spectrum, Decomposition method) {
  const auto& sizes = spectrum.sizes;
  if (method == Decomposition::kSvd || method == Decomposition::kTucker2) {
    return std::min(sizes[0], sizes[1]);
  }
  return elements(spectrum) / std::max({sizes[0], sizes[1], sizes[2] * sizes[3]});
}

// The form with the largest ranks, in the same proportion to what bounds them, that has no more
// than so many parameters; the least ranks if there are none so few.
LayerForm form_within(const Spectrum& spectrum, Decomposition method, double most_parameters) {
  const auto& sizes = spectrum.sizes;
  const auto at_level = [&](double level) {
    const auto rank = [level](std::int64_t most) {
      return std::max<std::int64_t>(static_cast<std::int64_t>(level * static_cast<double>(most)),
                                    1);
    };
    if (method == Decomposition::kTucker2)
      return LayerForm{method, {rank(sizes[1]), rank(sizes[0])}};
    return LayerForm{method, {rank(most_rank(spectrum, method))}};
  };
  double low = 0, high = 1;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    const auto count = static_cast<double>(count_parameters(at_level(middle), sizes));
    (count <= most_parameters ? low : high) = middle;
  }
  LayerForm form = at_level(low);
  // Down, and not up: the number of parameters is a bound.
  for (std::int64_t& rank : form.ranks) {
    if (rank >= kSmallestRounded) rank -= rank % kTile;
  }
  return form;
}

// `rank_of` gives one for a side's singular values and that matrix's number of rows.
LayerForm form_by(
    const Spectrum& spectrum, Decomposition method,
    const std::function<std::int64_t(const std::vector<double>&, std::int64_t)>& rank_of) {
  const auto& sizes = spectrum.sizes;
  const auto rank = [&](const std::vector<double>& values, std::int64_t rows) {
    return rounded_rank(std::max<std::int64_t>(rank_of(values, rows), 1),
                        static_cast<std::int64_t>(values.size()));
  };
  const std::int64_t inputs = rank(spectrum.inputs, sizes[1]);
  const std::int64_t outputs = rank(spectrum.outputs, sizes[0]);
  if (method == Decomposition::kTucker2) return {method, {inputs, outputs}};
  if (method == Decomposition::kSvd) return {method, {outputs}};
  // No spectrum tells the rank of CP: as many parameters as Tucker-2 would have.
  // That may be more than the dense weight has.
  const LayerForm equal = {Decomposition::kTucker2, {inputs, outputs}};
  return form_within(spectrum, method, static_cast<double>(count_parameters(equal, sizes)));
}

// The free energy of EVBMF as a function of the noise's variance.
class FreeEnergy {
 public:
  FreeEnergy(const std::vector<double>& values, std::int64_t rows, std::int64_t columns)
      : values_(values),
        columns_(static_cast<double>(columns)),
        alpha_(static_cast<double>(rows) / columns_) {
    const double tau = 2.5129 * std::sqrt(alpha_);
    edge_ = (1 + tau) * (1 + alpha_ / tau);
  }

  // In terms of squares over columns and variance: what is below is noise.
  double edge() const { return edge_; }

  double at(double variance) const {
    double sum = 0;
    for (const double value : values_) {
      const double x = std::max(value * value / (columns_ * variance), 1e-300);
      sum += x <= edge_ ? x - std::log(x) : above(x);
    }
    return sum;
  }

 private:
  double above(double x) const {
    const double shifted = x - (1 + alpha_);
    const double tau = (shifted + std::sqrt(std::max(shifted * shifted - 4 * alpha_, 0.0))) / 2;
    return x - tau + std::log((tau + 1) / x) + alpha_ * std::log(tau / alpha_ + 1);
  }

  const std::vector<double>& values_;
  double columns_, alpha_, edge_ = 0;
};

// It has several minima: a scan, then thirds around the best.
double least(const FreeEnergy& energy, double low, double high) {
  constexpr int kSteps = 400;
  const double factor = std::pow(high / low, 1.0 / kSteps);
  double best = low;
  for (int i = 0; i <= kSteps; ++i) {
    const double variance = low * std::pow(factor, i);
    if (energy.at(variance) < energy.at(best)) best = variance;
  }
  double from = std::max(best / factor, low), to = std::min(best * factor, high);
  for (int i = 0; i < kBisections; ++i) {
    const double a = from + (to - from) / 3, b = to - (to - from) / 3;
    (energy.at(a) < energy.at(b) ? to : from) = energy.at(a) < energy.at(b) ? b : a;
  }
  return (from + to) / 2;
}

std::int64_t total(const std::vector<LayerForm>& forms,
                   const std::vector<WeightedSpectrum>& layers) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    sum += count_parameters(forms[i], layers[i].spectrum.sizes);
  }
  return sum;
}

std::vector<LayerForm> forms_at(const std::vector<WeightedSpectrum>& layers, double level) {
  std::vector<LayerForm> forms;
  for (const WeightedSpectrum& layer : layers) {
    const double share = std::min(level / std::max(layer.sensitivity, 1e-12), 1.0);
    const LayerForm form = energy_form(layer.spectrum, layer.method, share);
    forms.push_back(is_smaller(form, layer.spectrum) ? form : LayerForm{});
  }
  return forms;
}

}  // namespace

Spectrum spectrum_of(const at::Tensor& weight, SharedVectors& shared) {
  const at::NoGradGuard no_grad;
  const at::Tensor exact = weight.detach().to(at::kDouble);
  LT_REQUIRE(at::isfinite(exact).all().item<bool>(), "the weight has values that are not finite");
  LT_REQUIRE(exact.any().item<bool>(), "the weight is all zeros");
  Spectrum result = {.sizes = weight.sizes().vec()};
  if (exact.numel() == exact.size(0) * exact.size(1)) {
    // A matrix: both sides have the same.
    result.inputs = as_numbers(singular_vectors(exact.flatten(1), shared).values);
    result.outputs = result.inputs;
    return result;
  }
  result.inputs = as_numbers(singular_values(unfold(exact, 1)));
  result.outputs = as_numbers(singular_values(unfold(exact, 0)));
  return result;
}

Spectrum spectrum_of(const at::Tensor& weight) {
  SharedVectors shared;
  return spectrum_of(weight, shared);
}

std::int64_t evbmf_rank(const std::vector<double>& values, std::int64_t rows,
                        std::int64_t columns) {
  if (rows > columns) std::swap(rows, columns);
  LT_REQUIRE(static_cast<std::int64_t>(values.size()) == rows, "there are ", values.size(),
             " singular values for ", rows, " rows");
  const double squares = sum_of_squares(values);
  if (squares <= 0) return 0;
  const FreeEnergy energy(values, rows, columns);
  const auto columns_real = static_cast<double>(columns);
  const double alpha = static_cast<double>(rows) / columns_real;
  const auto ends = static_cast<std::size_t>(std::clamp<double>(
      std::ceil(static_cast<double>(rows) / (1 + alpha)) - 1, 0, static_cast<double>(rows)));
  const double high = squares / static_cast<double>(rows * columns);
  double low = high * 1e-6;
  if (ends < values.size()) {
    const double mean = sum_of_squares(values, ends) / static_cast<double>(values.size() - ends);
    low = std::max({values[ends] * values[ends] / (columns_real * energy.edge()),
                    mean / columns_real, high * 1e-12});
  }
  const double variance = least(energy, std::min(low, high), high);
  const double threshold = columns_real * variance * energy.edge();
  return std::count_if(values.begin(), values.end(),
                       [&](double value) { return value * value > threshold; });
}

std::int64_t energy_rank(const std::vector<double>& values, double share_left_out) {
  LT_REQUIRE(share_left_out >= 0 && share_left_out <= 1,
             "the share of energy that is left out must be from 0 to 1, not ", share_left_out);
  // A little less, since the squares are sums of roundings.
  const double allowed = (share_left_out + 1e-14) * sum_of_squares(values);
  double left = 0;
  std::size_t rank = values.size();
  while (rank > 1 && left + values[rank - 1] * values[rank - 1] <= allowed) {
    left += values[rank - 1] * values[rank - 1];
    --rank;
  }
  return static_cast<std::int64_t>(rank);
}

std::int64_t rounded_rank(std::int64_t rank, std::int64_t limit) {
  if (rank < kSmallestRounded) return rank;
  const std::int64_t up = (rank + kTile - 1) / kTile * kTile;
  return up <= limit ? up : rank;
}

LayerForm evbmf_form(const Spectrum& spectrum, Decomposition method) {
  return form_by(spectrum, method, [&](const std::vector<double>& values, std::int64_t rows) {
    const std::int64_t columns = elements(spectrum) / rows;
    return evbmf_rank(values, rows, columns);
  });
}

LayerForm energy_form(const Spectrum& spectrum, Decomposition method, double share_left_out) {
  return form_by(spectrum, method, [&](const std::vector<double>& values, std::int64_t) {
    return energy_rank(values, share_left_out);
  });
}

LayerForm compressed_form(const Spectrum& spectrum, Decomposition method, double share) {
  LT_REQUIRE(share > 0 && share <= 1, "the share of parameters must be above 0 and up to 1, not ",
             share);
  return form_within(spectrum, method, share * static_cast<double>(elements(spectrum)));
}

bool is_smaller(const LayerForm& form, const Spectrum& spectrum) {
  return count_parameters(form, spectrum.sizes) < elements(spectrum);
}

std::int64_t largest_useful_rank(const std::vector<std::int64_t>& weight_sizes,
                                 Decomposition method) {
  const Spectrum spectrum = {.sizes = weight_sizes};
  const std::size_t ranks = method == Decomposition::kTucker2 ? 2 : 1;
  const auto is_useful = [&](std::int64_t rank) {
    return is_smaller({method, std::vector<std::int64_t>(ranks, rank)}, spectrum);
  };
  std::int64_t useful = 0, useless = most_rank(spectrum, method) + 1;
  while (useless - useful > 1) {
    const std::int64_t middle = useful + (useless - useful) / 2;
    (is_useful(middle) ? useful : useless) = middle;
  }
  return useful;
}

LayerForm raised_form(LayerForm form, const Spectrum& spectrum) {
  const auto& sizes = spectrum.sizes;
  for (std::size_t i = 0; i < form.ranks.size(); ++i) {
    const std::int64_t limit =
        form.method == Decomposition::kTucker2 ? sizes[1 - i] : most_rank(spectrum, form.method);
    form.ranks[i] = rounded_rank(form.ranks[i] + (form.ranks[i] + 1) / 2, limit);
  }
  return form;
}

std::vector<LayerForm> forms_within(const std::vector<WeightedSpectrum>& layers,
                                    std::int64_t most_parameters) {
  double most_sensitive = 0;
  for (const WeightedSpectrum& layer : layers) {
    most_sensitive = std::max(most_sensitive, layer.sensitivity);
  }
  double low = 0, high = std::max(most_sensitive, 1e-12);
  const std::int64_t least_possible = total(forms_at(layers, high), layers);
  LT_REQUIRE(least_possible <= most_parameters,
             "no ranks give so few parameters: ", most_parameters, "; the fewest are ",
             least_possible);
  if (total(forms_at(layers, low), layers) <= most_parameters) return forms_at(layers, low);
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (total(forms_at(layers, middle), layers) <= most_parameters ? high : low) = middle;
  }
  return forms_at(layers, high);
}

}  // namespace lowtide::decompose
