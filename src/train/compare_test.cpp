// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/compare.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::train {
namespace {

State some_state() {
  return {{"parameter/weight", torch::arange(6).to(at::kFloat).view({2, 3})},
          {"buffer/count", torch::tensor(3, at::kLong)},
          {"buffer/empty", torch::empty({0})},
          {"generator/cpu", torch::arange(10).to(at::kByte)}};
}

TEST(Compare, FindsNothingInEqualStates) {
  EXPECT_EQ(first_differing(digest_of(some_state(), nullptr), digest_of(some_state(), nullptr)),
            std::nullopt);
}

TEST(Compare, DoesNotMindHowATensorLiesInMemory) {
  const at::Tensor plain = torch::arange(6).view({2, 3});
  const at::Tensor turned = plain.t().contiguous().t();
  ASSERT_FALSE(turned.is_contiguous());
  EXPECT_EQ(digest_of({{"x", plain}}, nullptr), digest_of({{"x", turned}}, nullptr));
}

TEST(Compare, FindsOneBitInAnyTensor) {
  const StateDigest wanted = digest_of(some_state(), nullptr);
  for (const std::size_t i : {0U, 1U, 3U}) {
    State other = some_state();
    const at::Tensor& tensor = other[i].tensor;
    static_cast<std::uint8_t*>(tensor.mutable_data_ptr())[tensor.nbytes() - 1] ^= 1;
    EXPECT_EQ(first_differing(wanted, digest_of(other, nullptr)), other[i].name);
  }
}

TEST(Compare, FindsATensorThatIsMissingOrTooMany) {
  const StateDigest whole = digest_of(some_state(), nullptr);
  StateDigest shorter = whole;
  shorter.pop_back();
  EXPECT_EQ(first_differing(whole, shorter), "generator/cpu");
  EXPECT_EQ(first_differing(shorter, whole), "generator/cpu");
}

TEST(Compare, NamesTheElementAndBothValues) {
  const at::Tensor wanted = torch::arange(6).to(at::kFloat).view({2, 3});
  at::Tensor got = wanted.clone();
  got[1][1] = std::nextafter(4.0F, 5.0F);
  const auto found = first_differing_element(wanted, got);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->element, 4);
  EXPECT_EQ(found->wanted, "4");
  EXPECT_EQ(found->got, "4.000000476837158");
}

TEST(Compare, GoesByBitsAndNotByValue) {
  const at::Tensor nan = torch::full({2}, std::nan(""));
  EXPECT_FALSE(first_differing_element(nan, nan.clone()).has_value());
  EXPECT_TRUE(first_differing_element(torch::tensor({0.0F}), torch::tensor({-0.0F})).has_value());
}

}  // namespace
}  // namespace lowtide::train
