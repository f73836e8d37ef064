// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/digest.h"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

std::string digest_of(std::initializer_list<std::string_view> texts) {
  Digest digest;
  for (const std::string_view text : texts) digest.add(text);
  return digest.text();
}

TEST(Digest, OfNothingIsTheOffsetOfFnv1a) { EXPECT_EQ(Digest{}.text(), "cbf29ce484222325"); }

TEST(Digest, IsTheSameOnEveryMachine) {
  // FNV-1a over the eight bytes 97, 0, 0, 0, 0, 0, 0, 0.
  Digest digest;
  digest.add(std::int64_t{97});
  EXPECT_EQ(digest.text(), "6926124a7b1433c4");
}

TEST(Digest, KeepsPiecesApart) {
  EXPECT_NE(digest_of({"ab", "c"}), digest_of({"a", "bc"}));
  EXPECT_NE(digest_of({"a", ""}), digest_of({"a"}));
  EXPECT_NE(digest_of({"a", "b"}), digest_of({"b", "a"}));
  EXPECT_EQ(digest_of({"a", "b"}), digest_of({"a", "b"}));
}

TEST(Digest, TellsNumbersApartInEveryByte) {
  for (unsigned bit = 0; bit < 63; ++bit) {
    Digest changed;
    changed.add(std::int64_t{1} << bit);
    Digest zero;
    zero.add(std::int64_t{0});
    EXPECT_NE(changed.text(), zero.text()) << bit;
  }
}

}  // namespace
}  // namespace lowtide::base
