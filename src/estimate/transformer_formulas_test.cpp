// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/transformer_formulas.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::estimate {
namespace {

TEST(TransformerFormulas, CountGpt2sParametersWithinAThousandth) {
  const TransformerFigures figures = transformer_figures(
      {.layers = 12, .width = 768, .heads = 12, .context = 1024, .vocabulary = 50257, .batch = 1});
  EXPECT_NEAR(figures.parameters / 124'439'808, 1, 1e-3);
}

// Of the paper's table 3: GPT-3 of 175 billion parameters, sequences of 2048.
TEST(TransformerFormulas, SelectiveRecomputationSavesSeventyPercentForGpt3) {
  const TransformerFigures figures = transformer_figures({.layers = 96,
                                                          .width = 12288,
                                                          .heads = 96,
                                                          .context = 2048,
                                                          .vocabulary = 51200,
                                                          .batch = 1});
  EXPECT_NEAR(figures.parameters / 175e9, 1, 0.01);
  const double saved = 1 - figures.selective_activation_bytes / figures.layer_activation_bytes;
  EXPECT_NEAR(saved, 0.70, 0.005);
}

TEST(TransformerFormulas, StandBesideWhatIsInAStep) {
  const CountedFigures counted = counted_figures(trace::parse_text(R"(lowtide-trace 1
name step
storage w 40 parameter start end
storage v 8 parameter start end
storage m 40 state start end
storage a 16 activation
op mm forward flops=30 : w -> a
op mm backward flops=60 : a w v -> m
)"));
  EXPECT_EQ(counted.parameters, 12);
  EXPECT_EQ(counted.flops, 90);
}

TEST(TransformerFormulas, SizesOfNothingAreRefused) {
  EXPECT_THROW(transformer_figures({}), InvalidInput);
}

}  // namespace
}  // namespace lowtide::estimate
