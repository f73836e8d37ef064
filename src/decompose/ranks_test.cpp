// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/ranks.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "decompose/factors.h"
#include "decompose/linear_algebra.h"
#include "lowtide/errors.h"

namespace lowtide::decompose {
namespace {

std::vector<double> values_of(const at::Tensor& matrix) {
  const at::Tensor values = singular_values(matrix).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

TEST(Ranks, EvbmfFindsPlantedRanksUnderNoise) {
  torch::manual_seed(1);
  for (const std::int64_t rank : {0, 5, 10, 20, 40}) {
    const at::Tensor planted =
        at::randn({100, rank}, at::kDouble).matmul(at::randn({rank, 300}, at::kDouble));
    const at::Tensor noisy = planted + at::randn({100, 300}, at::kDouble);
    EXPECT_EQ(evbmf_rank(values_of(noisy), 100, 300), rank);
    EXPECT_EQ(evbmf_rank(values_of(noisy.t()), 300, 100), rank);
  }
}

TEST(Ranks, EvbmfEndsWhereTheBoundsOfTheVarianceMeet) {
  EXPECT_LE(evbmf_rank({2, 0}, 2, 2), 1);
  EXPECT_LE(evbmf_rank({1}, 1, 1), 1);
  EXPECT_LE(evbmf_rank({3, 0, 0}, 3, 3), 1);
}

TEST(Ranks, EnergyLeavesOutNoMoreThanItsShare) {
  const std::vector<double> values = {3, 2, 1, 1};  // squares: 9 4 1 1
  EXPECT_EQ(energy_rank(values, 0), 4);
  EXPECT_EQ(energy_rank(values, 1.0 / 15), 3);
  EXPECT_EQ(energy_rank(values, 2.0 / 15), 2);
  EXPECT_EQ(energy_rank(values, 6.0 / 15), 1);
  EXPECT_EQ(energy_rank(values, 1), 1);
  EXPECT_THROW(static_cast<void>(energy_rank(values, -0.1)), InvalidInput);
}

TEST(Ranks, AreRoundedUpWhereThatIsLittle) {
  EXPECT_EQ(rounded_rank(3, 64), 3);
  EXPECT_EQ(rounded_rank(17, 64), 24);
  EXPECT_EQ(rounded_rank(61, 62), 61);
  EXPECT_EQ(rounded_rank(64, 64), 64);
}

TEST(Ranks, ACompressedFormKeepsItsShare) {
  torch::manual_seed(1);
  const Spectrum conv = spectrum_of(at::randn({64, 48, 3, 3}));
  const Spectrum linear = spectrum_of(at::randn({100, 300}));
  for (const double share : {0.5, 0.25, 0.1}) {
    for (const Decomposition method :
         {Decomposition::kTucker2, Decomposition::kCp3, Decomposition::kCp4}) {
      const std::int64_t count = count_parameters(compressed_form(conv, method, share), conv.sizes);
      EXPECT_LE(count, share * 64 * 48 * 9);
      EXPECT_GT(count, 0.6 * share * 64 * 48 * 9);
    }
    const LayerForm form = compressed_form(linear, Decomposition::kSvd, share);
    EXPECT_LE(count_parameters(form, linear.sizes), share * 100 * 300);
  }
}

TEST(Ranks, OneLevelMeetsATargetAndSparesTheSensitive) {
  torch::manual_seed(1);
  const Spectrum spectrum = spectrum_of(at::randn({60, 60}));
  const std::vector<WeightedSpectrum> layers = {{spectrum, Decomposition::kSvd, 1},
                                                {spectrum, Decomposition::kSvd, 3}};
  const std::vector<LayerForm> forms = forms_within(layers, 4000);
  const std::int64_t first = count_parameters(forms[0], spectrum.sizes);
  const std::int64_t second = count_parameters(forms[1], spectrum.sizes);
  EXPECT_LE(first + second, 4000);
  EXPECT_GT(first + second, 2500);
  EXPECT_LT(first, second);
  EXPECT_THROW(static_cast<void>(forms_within(layers, 10)), InvalidInput);
}

TEST(Ranks, OneLevelMeetsATargetWithCpToo) {
  torch::manual_seed(1);
  const Spectrum spectrum = spectrum_of(at::randn({24, 16, 3, 3}));
  for (const Decomposition method : {Decomposition::kCp3, Decomposition::kCp4}) {
    const std::vector<WeightedSpectrum> layers = {{spectrum, method, 1}, {spectrum, method, 3}};
    const std::int64_t all = 2 * 24 * 16 * 9;
    for (const double share : {0.3, 0.7}) {
      const auto most = static_cast<std::int64_t>(share * static_cast<double>(all));
      std::int64_t count = 0;
      for (const LayerForm& form : forms_within(layers, most)) {
        count += count_parameters(form, spectrum.sizes);
      }
      EXPECT_LE(count, most);
      EXPECT_GT(count, most / 2);
    }
    // Nothing need be left out.
    EXPECT_EQ(forms_within(layers, all), (std::vector<LayerForm>{{}, {}}));
  }
}

TEST(Ranks, CpIsNotSmallerWhereTuckerWouldNotBe) {
  torch::manual_seed(1);
  const at::Tensor weight = at::randn({24, 16, 3, 3});
  const Spectrum spectrum = spectrum_of(weight);
  for (const Decomposition method : {Decomposition::kCp3, Decomposition::kCp4}) {
    EXPECT_FALSE(is_smaller(energy_form(spectrum, method, 0.001), spectrum));
    // Of ranks 14 and 20, and hardly any noise: Tucker-2 at these has more than the dense weight.
    const at::Tensor planted = at::einsum(
        "si,oihw,to->tshw", {at::randn({16, 14}), at::randn({20, 14, 3, 3}), at::randn({24, 20})});
    const Spectrum clear = spectrum_of(planted + 1e-4 * weight);
    EXPECT_FALSE(is_smaller(evbmf_form(clear, method), clear));
  }
}

TEST(Ranks, TheLargestUsefulOneHasFewerParametersAndTheNextHasNot) {
  const std::vector<std::int64_t> conv = {32, 32, 3, 3}, wide = {64, 8, 3, 3}, linear = {100, 300};
  // 2 * 32 r + 9 r r < 32 * 32 * 9.
  EXPECT_EQ(largest_useful_rank(conv, Decomposition::kTucker2), 28);
  // No more than there are inputs.
  EXPECT_EQ(largest_useful_rank(wide, Decomposition::kTucker2), 8);
  EXPECT_EQ(largest_useful_rank(linear, Decomposition::kSvd), 74);
  EXPECT_EQ(largest_useful_rank(conv, Decomposition::kCp3), 126);
  EXPECT_EQ(largest_useful_rank(conv, Decomposition::kCp4), 131);
  EXPECT_EQ(largest_useful_rank({1, 1, 3, 3}, Decomposition::kTucker2), 0);
}

TEST(Ranks, RaisedOnesAreRoundedAsTheFirstWere) {
  const Spectrum conv = {.sizes = {64, 40, 3, 3}}, linear = {.sizes = {64, 40}};
  EXPECT_EQ(raised_form({Decomposition::kSvd, {20}}, linear).ranks, std::vector<std::int64_t>{32});
  EXPECT_EQ(raised_form({Decomposition::kSvd, {5}, true}, linear),
            (LayerForm{Decomposition::kSvd, {8}, true}));
  EXPECT_EQ(raised_form({Decomposition::kTucker2, {24, 20}}, conv).ranks,
            (std::vector<std::int64_t>{40, 32}));
  // No further than what the weight has.
  EXPECT_EQ(raised_form({Decomposition::kTucker2, {25, 20}}, {.sizes = {64, 38, 3, 3}}).ranks,
            (std::vector<std::int64_t>{38, 32}));
  EXPECT_EQ(raised_form({Decomposition::kCp3, {30}}, conv).ranks, std::vector<std::int64_t>{48});
}

}  // namespace
}  // namespace lowtide::decompose
