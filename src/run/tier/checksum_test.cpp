// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/checksum.h"

#include <array>

#include <gtest/gtest.h>

namespace lowtide::tier {
namespace {

TEST(Checksum, DiffersWithEveryBitThePlaceAndTheGeneration) {
  std::array<unsigned char, 300> bytes{};
  const auto sum = [&](std::int64_t offset, std::uint64_t generation) {
    return checksum(bytes.data(), bytes.size(), offset, generation);
  };
  const std::uint64_t whole = sum(4096, 7);
  EXPECT_EQ(whole, sum(4096, 7));
  EXPECT_NE(whole, sum(8192, 7));
  EXPECT_NE(whole, sum(4096, 8));
  EXPECT_NE(sum(7, 4096), sum(4096, 7));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    EXPECT_NE(whole, sum(4096, 7)) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
  }
}

}  // namespace
}  // namespace lowtide::tier
