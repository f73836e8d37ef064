// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/rank_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/errors.h"

namespace lowtide::decompose {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_rank_rule(text));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RankRules, AreReadOrRefusedWithWhatIsKnown) {
  EXPECT_EQ(parse_rank_rule("evbmf").kind, RankRule::Kind::kEvbmf);
  EXPECT_EQ(parse_rank_rule("energy=0.1").value, 0.1);
  EXPECT_EQ(parse_rank_rule("compression=0.25").kind, RankRule::Kind::kCompression);
  EXPECT_EQ(parse_rank_rule("total=0.3").kind, RankRule::Kind::kTotal);
  EXPECT_EQ(parse_rank_rule("total=2MiB").kind, RankRule::Kind::kTotalBytes);
  EXPECT_EQ(parse_rank_rule("total=2MiB").value, 2 << 20);
  EXPECT_EQ(parse_rank_rule("12").value, 12);
  for (const char* text : {"many", "energy=0", "compression=2", "rank=3", "=", "total=much",
                           "total=2", "total=0B", "energy=1MiB"}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
  EXPECT_THAT(refusal("0"), HasSubstr("not 0; the nearest is 1"));
  EXPECT_THAT(refusal("-3"), HasSubstr("not -3; the nearest is 1"));
  EXPECT_THAT(refusal("2.6"), HasSubstr("not 2.6; the nearest is 3"));
  EXPECT_THAT(refusal("compression=2"), HasSubstr("such as compression=0.5"));
}

TEST(RankRules, GiveTheSameFormWithAndWithoutASpectrum) {
  torch::manual_seed(1);
  const at::Tensor weight = at::randn({24, 32, 3, 3});
  for (const char* text : {"evbmf", "energy=0.2", "compression=0.5", "7"}) {
    const RankRule rule = parse_rank_rule(text);
    EXPECT_EQ(form_by(rule, weight, Decomposition::kTucker2),
              form_by(rule, spectrum_of(weight), Decomposition::kTucker2))
        << text;
  }
  EXPECT_THROW(
      static_cast<void>(form_by(parse_rank_rule("total=0.5"), weight, Decomposition::kTucker2)),
      InvalidInput);
}

TEST(Methods, AreSvdWhereThereIsNoOther) {
  EXPECT_EQ(method_for("auto", {4, 5}), Decomposition::kSvd);
  EXPECT_EQ(method_for("cp3", {4, 5, 1, 1}), Decomposition::kSvd);
  EXPECT_EQ(method_for("auto", {4, 5, 3, 3}), Decomposition::kTucker2);
  EXPECT_EQ(method_for("cp4", {4, 5, 3, 3}), Decomposition::kCp4);
  EXPECT_THROW(static_cast<void>(method_for("tucker", {4, 5})), InvalidInput);
  EXPECT_THROW(static_cast<void>(method_for("dense", {4, 5})), InvalidInput);
}

TEST(Forms, AreReadAsTheyAreWritten) {
  for (const char* text : {"dense", "svd 32", "tucker2 16x24", "cp3 7", "cp4 9 reconstructed",
                           "tucker2 1x2 reconstructed"}) {
    EXPECT_EQ(to_string(parse_form(text)), text);
  }
}

TEST(Forms, OtherTextsAreRefused) {
  for (const char* text : {"", "svd", "svd 0", "svd -1", "svd 3x4", "tucker2 3", "tucker2 3x",
                           "tucker2 x3", "tucker2 3x4x5", "dense 3", "dense reconstructed",
                           "svd 3 again", "svd  3", "svd 3.5", "tucker 3x4"}) {
    EXPECT_THROW(static_cast<void>(parse_form(text)), InvalidInput) << text;
  }
}

}  // namespace
}  // namespace lowtide::decompose
