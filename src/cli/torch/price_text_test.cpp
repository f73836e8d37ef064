// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/price_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/torch/price_test.h"

namespace lowtide::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(PriceText, HasARowForPlainAndEachBudget) {
  const std::string text = price_text(price_example(), Style{});
  EXPECT_THAT(text, HasSubstr("resnet50: batch 64, sgd, cuda, policy auto, 3 rounds of 5 timed"));
  EXPECT_THAT(text, ContainsRegex("\nplain +- +10.0 GiB +2 s +- +1 +- +-\n"));
  EXPECT_THAT(text, ContainsRegex("\n80% +8.00 GiB +8.00 GiB +2.04 s +\\+2.0 % +"
                                  "1.020 \\(1.010\\.\\.1.050\\) +20 ms \\(1.0 %\\) +7\n"));
  EXPECT_THAT(text, ContainsRegex("\n60% .* 80 ms \\(4.0 %\\) \\? +7\n"));
  EXPECT_THAT(text, ContainsRegex("\n40% .* 200 ms \\(10.0 %\\) \\? +7\n"));
  EXPECT_THAT(text, ContainsRegex("\n20% +2.00 GiB +refused \\(an op needs 3.00 GiB\\)\n"));
  EXPECT_THAT(text, HasSubstr("?: not more than the spread"));
  EXPECT_THAT(text, HasSubstr("Losses are plain's in every step, bit for bit (13 steps)."));
}

TEST(PriceText, SaysHowMuchIsMissingWhereThatIsLittle) {
  train::PriceCurve curve = price_example();
  train::CurvePoint& refused = curve.points.back();
  refused.needed_bytes = refused.budget_bytes + (std::int64_t{3} << 20);
  EXPECT_THAT(price_text(curve, Style{}), HasSubstr("refused (an op needs 3.00 MiB more)\n"));
}

TEST(PriceText, SaysWhereALossDiffers) {
  train::PriceCurve curve = price_example();
  EXPECT_TRUE(losses_are_plains(curve));
  curve.points[1].difference = train::LossDifference{7, 0.5, 0.25};
  EXPECT_FALSE(losses_are_plains(curve));
  const std::string text = price_text(curve, Style{});
  EXPECT_THAT(text,
              HasSubstr("LOSSES DIFFER at 60%: it differs from step 7 on: 0.25, plain 0.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("bit for bit")));
  const auto json = price_json(curve);
  EXPECT_FALSE(json["identical"]);
  EXPECT_EQ(json["budgets"][1]["first_difference"]["step"], 7);
}

TEST(PriceText, SaysThatPlainDoesNotRepeatItself) {
  train::PriceCurve curve = price_example();
  curve.plain_difference = train::LossDifference{2, 0.5, 0.25};
  EXPECT_FALSE(losses_are_plains(curve));
  EXPECT_THAT(price_text(curve, Style{}), HasSubstr("Plain training does not repeat itself"));
}

TEST(PriceText, ExitCodeSaysWhatCameOfIt) {
  train::PriceCurve curve = price_example();
  EXPECT_EQ(price_exit_code(curve), ExitCode::kDone);
  curve.was_interrupted = true;
  EXPECT_EQ(price_exit_code(curve), ExitCode::kInterrupted);
  curve.points[0].difference = train::LossDifference{1, 2, 3};
  EXPECT_EQ(price_exit_code(curve), ExitCode::kFailed);
  curve = price_example();
  curve.points.erase(curve.points.begin(), curve.points.end() - 1);
  EXPECT_EQ(price_exit_code(curve), ExitCode::kDoesNotFit);
  EXPECT_THAT(price_text(curve, Style{}), Not(HasSubstr("bit for bit")));
}

TEST(PriceText, JsonHasTheFiguresAndTheRefusal) {
  const auto json = price_json(price_example());
  EXPECT_EQ(json["plain_step_seconds"], 2);
  EXPECT_EQ(json["rounds"], 3);
  const auto& budgets = json["budgets"];
  EXPECT_EQ(budgets[0]["ratio"], 1.02);
  EXPECT_EQ(budgets[0]["evictions_a_step"], 7);
  EXPECT_NEAR(budgets[0]["saved_seconds_per_further_gib"].get<double>(), 0.02, 1e-12);
  EXPECT_TRUE(budgets[3]["refused"]);
  EXPECT_EQ(budgets[3]["needed_bytes"], 3 * base::kGiB);
  EXPECT_FALSE(budgets[3].contains("ratio"));
}

}  // namespace
}  // namespace lowtide::cli
