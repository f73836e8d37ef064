// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/relief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctdr/test_choices.h"

namespace lowtide::ctdr {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const std::vector<Relief>& reliefs) {
  std::vector<std::string> result;
  for (const Relief& relief : reliefs) {
    result.push_back(relief.layer + " " + to_string(relief.form));
  }
  return result;
}

TEST(Prices, AByteIsWorthWhatThePlanCostsForThoseThatAreMissing) {
  Judgement judgement = {.plain_peak_bytes = 100, .plain_seconds = 10};
  EXPECT_DOUBLE_EQ(prices_of(judgement).byte, 0.1);
  judgement.planned_seconds = 16;
  judgement.smallest_budget_bytes = 70;
  EXPECT_DOUBLE_EQ(prices_of(judgement).byte, 0.2);
  judgement.smallest_budget_bytes = 200;
  EXPECT_DOUBLE_EQ(prices_of(judgement).byte, 0.1);
}

TEST(Reliefs, ThoseThatUndoTheMostHarmForWhatIsGivenUpComeFirst) {
  const std::vector<LayerChoice> layers = {
      // 6 s for a rise of 1; 5 s for 0.2: at first 0.8 for a second, then 0.2 for five.
      with_others(choice("a", 2, 4, 0, 1), {choice("a", 4, 5, 0, 0.2)}),
      // 4 s for a rise of 2, and half of them for one of 1.9, which is on no hull.
      with_others(choice("b", 2, 6, 0, 2), {choice("b", 4, 8, 0, 1.9)}),
      // Slower than dense for a rise.
      choice("c", 2, 11, 0, 0.1), choice("dense", 2, 1, 0, 1)};
  const Forms forms = {{"a", svd(2)}, {"b", svd(2)}, {"c", svd(2)}};
  const std::vector<Relief> found = reliefs_of(layers, forms, {});
  EXPECT_THAT(texts(found), ElementsAre("c dense", "a svd 4", "b dense", "a dense"));
  EXPECT_DOUBLE_EQ(found[0].gain_lost, -1);
  EXPECT_NEAR(found[1].harm_undone, 0.8, 1e-9);
  EXPECT_NEAR(found[2].gain_lost, 4, 1e-9);
  EXPECT_TRUE(with_reliefs(forms, found).empty());
  EXPECT_EQ(with_reliefs(forms, std::span(found).first(2)), (Forms{{"a", svd(4)}, {"b", svd(2)}}));
}

TEST(Reliefs, BytesCountByTheirPrice) {
  const std::vector<LayerChoice> layers = {choice("small", 2, 5, 1, 1),
                                           choice("large", 2, 9, 100, 1)};
  const Forms forms = {{"small", svd(2)}, {"large", svd(2)}};
  EXPECT_THAT(texts(reliefs_of(layers, forms, {})), ElementsAre("large dense", "small dense"));
  EXPECT_THAT(texts(reliefs_of(layers, forms, {.second = 1, .byte = 0.1})),
              ElementsAre("small dense", "large dense"));
  EXPECT_THAT(texts(reliefs_of(layers, forms, {.second = 0, .byte = 1})),
              ElementsAre("small dense", "large dense"));
}

}  // namespace
}  // namespace lowtide::ctdr
