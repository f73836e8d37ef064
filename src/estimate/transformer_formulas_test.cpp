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
)"),
                                                 "h.1");
  EXPECT_EQ(counted.parameters, 12);
  EXPECT_EQ(counted.flops, 90);
}

// Of layer h.1: b and c are kept; d goes at once, e is a copy of a weight, x is of layer h.10.
constexpr const char* kLayers = R"(lowtide-trace 1
name step
storage w 40 parameter start end
storage a 1 activation
storage b 2 activation
storage c 4 activation
storage d 8 activation
storage e 16 activation
storage x 32 activation
op copy forward layer=h.1.mlp : w -> e
op mm forward layer=h.0 : w -> a
op mm forward layer=h.1.mlp : a e -> b
op gelu forward layer=h.1 : b -> d
op SOFTMAX forward layer=h.1.attn : d -> c free d
op mm forward layer=h.10 : c -> x
op mm backward layer=h.1 : a b c e x -> w free a b c e x
)";

CountedFigures counted_of(const std::string& softmax) {
  std::string text = kLayers;
  text.replace(text.find("SOFTMAX"), std::string("SOFTMAX").size(), softmax);
  return counted_figures(trace::parse_text(text), "h.1");
}

TEST(TransformerFormulas, WhatALayerKeepsIsCounted) {
  EXPECT_EQ(counted_of("gelu").layer_activation_bytes, 2 + 4);
  EXPECT_FALSE(counted_of("_scaled_dot_product_flash_attention").keeps_scores);
  EXPECT_TRUE(counted_of("_softmax").keeps_scores);
  EXPECT_TRUE(counted_of("_safe_softmax").keeps_scores);
}

TEST(TransformerFormulas, SizesOfNothingAreRefused) {
  EXPECT_THROW(transformer_figures({}), InvalidInput);
}

}  // namespace
}  // namespace lowtide::estimate
