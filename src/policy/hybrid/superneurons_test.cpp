// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "policy/hybrid/superneurons_step.h"
#include "policy/test_nets.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Two segments as in the paper's figure of recomputation: a convolution, an activation, a pooling;
// a is read backward by relu, b by the pooling, c by the convolution. Nothing lies between d and
// the backward pass.
constexpr std::string_view kStep = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage c 4 activation
storage d 4 activation
storage e 4 activation
storage f 4 activation
storage g 8 temporary
op conv2d forward device=8 : x w -> a
op relu forward : a -> b
op max_pool2d forward : b -> c
op conv2d forward device=8 : c w -> d
op relu forward : d -> e
op conv2d forward device=8 : e w -> f
op conv2d_backward backward device=16 : e w f -> g free f
op relu_backward backward : d g -> g
op conv2d_backward backward device=16 : c w g -> g
op max_pool2d_backward backward : b g -> g
op relu_backward backward : a g -> g
op conv2d_backward backward device=16 : x w g -> g
)";

// Op 6 holds everything.
constexpr std::int64_t kPlainPeak = 49;

std::string plan_text(std::int64_t budget, const PolicyOptions& options) {
  return actions_of(TestStep(kStep, budget), "superneurons", options);
}

TEST(Superneurons, TellsCheapLayersByTheirNames) {
  for (const char* name : {"relu_", "max_pool2d_with_indices", "cudnn_batch_norm", "native_dropout",
                           "gelu", "add", "cat", "_to_copy"}) {
    EXPECT_TRUE(is_cheap(name)) << name;
  }
  for (const char* name : {"convolution", "addmm", "mm", "_thnn_fused_lstm_cell", "linear",
                           "_scaled_dot_product_cudnn_attention", "op1"}) {
    EXPECT_FALSE(is_cheap(name)) << name;
  }
}

TEST(Superneurons, NothingLeavesWhileTheStepFits) {
  EXPECT_EQ(plan_text(kPlainPeak, {}), "");
  EXPECT_NE(plan_text(kPlainPeak - 1, {}), "");
}

TEST(Superneurons, TheCheckpointThatWasUsedLongestAgoLeavesFirst) {
  // Of a and d, a. It starts to come back when the backward pass is at the checkpoint above.
  EXPECT_EQ(plan_text(kPlainPeak - 1, {{"recompute", "no"}}),
            "move a.0 host after 1\nfetch a.0 issue 7 need 10\n");
  EXPECT_EQ(plan_text(kPlainPeak - 9, {{"recompute", "no"}}),
            "move a.0 host after 1\nmove d.0 host after 4\n"
            "fetch d.0 issue 7 need 7\nfetch a.0 issue 8 need 10\n");
}

TEST(Superneurons, ASegmentIsReplayedOnceOrForEachReader) {
  const PolicyOptions speed{{"offload", "no"}, {"segments", "speed"}};
  EXPECT_EQ(plan_text(kPlainPeak - 1, speed),
            "drop b.0 after 2\ndrop c.0 after 3\nrun 1 before 8\nrun 2 before 8\n");
  const PolicyOptions memory{{"offload", "no"}, {"segments", "memory"}};
  EXPECT_EQ(plan_text(kPlainPeak - 1, memory),
            "drop b.0 after 2\ndrop c.0 after 3\nrun 1 before 8\nrun 2 before 8\n"
            "drop b.0 before 8\nrun 1 before 9\n");
}

TEST(Superneurons, ASegmentIsKeptIfItIsNoLargerThanTheLargestLayer) {
  // b, c and what op 9 needs (b, g) come to 28 bytes; l_peak is 17, that of op 11 for one.
  const PolicyOptions options{{"offload", "no"}};
  EXPECT_EQ(plan_text(kPlainPeak - 1, options),
            plan_text(kPlainPeak - 1, {{"offload", "no"}, {"segments", "memory"}}));
  // With a workspace of 11 in the last op l_peak is 28.
  std::string larger(kStep);
  larger.replace(larger.rfind("device=16"), 9, "device=16 workspace=11");
  const TestStep step(larger, kPlainPeak - 1);
  EXPECT_EQ(actions_of(step, "superneurons", options),
            actions_of(step, "superneurons", {{"offload", "no"}, {"segments", "speed"}}));
}

TEST(Superneurons, MovedCheckpointsAreBackForTheReplaysThatStartFromThem) {
  // An op between the passes that needs 20 bytes more: b, c and e have to be dropped and a moved.
  std::string text(kStep);
  text.insert(text.find("op conv2d forward"), "storage t 20 temporary\n");
  text.insert(text.find("op conv2d_backward"), "op loss forward device=30 : f -> t free t\n");
  EXPECT_EQ(actions_of(TestStep(text, 37), "superneurons"),
            "move a.0 host after 1\ndrop b.0 after 2\ndrop c.0 after 3\ndrop e.0 after 5\n"
            "fetch a.0 issue 7 need 9\nrun 4 before 7\nrun 1 before 9\nrun 2 before 9\n"
            "drop b.0 before 9\nrun 1 before 10\n");
}

TEST(Superneurons, WhatInPlaceOpsMadeOfACheckpointMovesAsTheCheckpoint) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage g 8 temporary
op conv2d forward device=8 : w -> a
op relu_ forward : a -> a
op conv2d forward device=8 : a w -> b
op conv2d forward device=8 : b w -> g free b
op conv2d_backward backward device=16 : w g -> g
op conv2d_backward backward device=16 : a w g -> g
)",
                      24);
  EXPECT_EQ(actions_of(step, "superneurons"), "move a.1 host after 2\nfetch a.1 issue 4 need 5\n");
}

TEST(Superneurons, WhatNobodyReadsAgainGoes) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage c 8 activation
op conv2d forward : w -> a
op conv2d forward : a w -> b
op conv2d forward : b w -> c
op end backward : c -> free a b c
)",
                      17);
  EXPECT_EQ(actions_of(step, "superneurons"), "drop a.0 after 1\ndrop b.0 after 2\n");
}

TEST(Superneurons, ConvolutionsGetTheWorkspaceThatIsLeft) {
  const std::string_view text = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
op conv2d forward device=8 workspace=4 option=quick:4:10 option=lean:12:0 : x w -> a
op conv2d forward device=8 workspace=4 option=quick:4:10 option=lean:12:0 : a w -> b
op conv2d_backward backward device=8 : x a b -> b
)";
  // 17 bytes beside the first, 25 beside the second.
  EXPECT_EQ(actions_of(TestStep(text, 35), "superneurons"), "choose 0 quick\nchoose 1 quick\n");
  EXPECT_EQ(actions_of(TestStep(text, 29), "superneurons"), "choose 0 quick\n");
  EXPECT_EQ(actions_of(TestStep(text, 25), "superneurons"), "choose 1 lean\n");
}

TEST(Superneurons, ARefusalNamesABudgetThatWorks) {
  for (const PolicyOptions& options : std::vector<PolicyOptions>{
           {}, {{"offload", "no"}}, {{"recompute", "no"}}, {{"segments", "speed"}}}) {
    const std::int64_t smallest = smallest_budget_of(TestStep(kStep, 2), "superneurons", options);
    ASSERT_GT(smallest, 2);
    plan_of(TestStep(kStep, smallest), "superneurons", options);
  }
}

// AlexNet as the paper has it, in elements for one picture.
const std::vector<NetLayer> kAlexNet = {{"conv2d", 290400},
                                        {"relu", 290400},
                                        {"local_response_norm", 290400},
                                        {"max_pool2d", 69984},
                                        {"conv2d", 186624},
                                        {"relu", 186624},
                                        {"local_response_norm", 186624},
                                        {"max_pool2d", 43264},
                                        {"conv2d", 64896},
                                        {"relu", 64896},
                                        {"conv2d", 64896},
                                        {"relu", 64896},
                                        {"conv2d", 43264},
                                        {"relu", 43264},
                                        {"max_pool2d", 9216},
                                        {"addmm", 4096},
                                        {"relu", 4096},
                                        {"native_dropout", 4096},
                                        {"addmm", 4096},
                                        {"relu", 4096},
                                        {"native_dropout", 4096},
                                        {"addmm", 1000}};

// The paper's table of replays for AlexNet: 14 if segments are kept, 23 if they are replayed for
// each reader, and 17 if the bytes decide, by which the first segment is replayed for each reader.
TEST(Superneurons, SegmentsOfAlexNetComeToTheReplaysOfThePaper) {
  const TestStep step(net_text(kAlexNet, 154587));
  const SuperneuronsStep found(step.problem);
  // Normalisation's backward pass, with its input, its result and the gradients of both.
  EXPECT_EQ(found.layer_peak_bytes, 4 * 290400);
  std::int64_t kept = 0;
  std::int64_t for_each_reader = 0;
  std::int64_t by_bytes = 0;
  for (const CheapSegment& segment : found.segments) {
    const auto n = static_cast<std::int64_t>(segment.values.size());
    const bool is_kept = segment.bytes + segment.backward_bytes <= found.layer_peak_bytes;
    kept += n;
    for_each_reader += n * (n + 1) / 2;
    by_bytes += is_kept ? n : n * (n + 1) / 2;
  }
  EXPECT_EQ(kept, 14);
  EXPECT_EQ(for_each_reader, 23);
  EXPECT_EQ(by_bytes, 17);
}

}  // namespace
}  // namespace lowtide::policy
