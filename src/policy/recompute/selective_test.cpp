// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// One layer with a core that is not fused: scores s, scaled c, probabilities p, with dropout r and
// its mask m, result o. The plain step takes 86 bytes in op 7, 32 of which are p, r and m. Without
// them the fullest op is number 10, with 68 bytes.
constexpr std::string_view kLayer = R"(
storage w 4 parameter start end
storage x 5 input start
storage q 12 activation
storage s 16 temporary
storage c 16 temporary
storage p 12 activation
storage r 12 activation
storage m 8 activation
storage o 4 activation
storage y 4 activation
storage z 30 activation
storage gy 4 temporary
storage gr 12 temporary
storage gq 12 temporary
storage gw 4 gradient end
op addmm forward : x w -> q
op bmm forward : q -> s
op div forward : s -> c free s
op _softmax forward : c -> p free c
op native_dropout forward random : p -> r m
op bmm forward : r q -> o
op mm forward : o w -> y
op loss forward : y -> z
op loss_backward backward : z -> gy free z
op mm_backward backward : o w gy -> gw
op bmm_backward backward : r q gy -> gr free r
op native_dropout_backward backward : m gr -> gr free m
op _softmax_backward_data backward : p gr -> gr free p
op bmm_backward backward : q gr -> gq
)";

TEST(Selective, WhatTheCoreMakesIsReplayedAndItsResultStays) {
  EXPECT_EQ(actions_of(TestStep(kLayer, 68), "selective", {{"parts", "core"}}),
            "drop p.0 after 4\n"
            "drop m.0 after 4\n"
            "drop r.0 after 5\n"
            "run 1 before 10\n"
            "run 2 before 10\n"
            "run 3 before 10\n"
            "run 4 before 10\n");
}

TEST(Selective, TakesWhatFitsFirst) {
  EXPECT_EQ(actions_of(TestStep(kLayer, 1000), "selective"), "");
  EXPECT_EQ(replays_of(plan_of(TestStep(kLayer, 68), "selective")), 4);
}

constexpr std::string_view kFused = R"(
storage w 4 parameter start end
storage q 12 activation
storage l 1 activation
storage o 20 activation
storage n 10 activation
storage y 4 activation
storage z 30 activation
storage gy 4 temporary
storage gw 4 gradient end
op addmm forward : w -> q
op _scaled_dot_product_flash_attention forward : q -> o l
op addmm forward : o w -> y
op gelu forward : y -> n
op loss forward : n -> z
op loss_backward backward : n z -> gy free z
op gelu_backward backward : y n gy -> gy
op addmm_backward backward : o w gy -> gw
op _scaled_dot_product_flash_attention_backward backward : q o l gy -> gw
)";

TEST(Selective, AFusedCoreIsRunAgainByItsBackwardAndByAllOnly) {
  const TestStep step(kFused, 1000);
  EXPECT_EQ(actions_of(step, "selective", {{"parts", "core"}}), "");
  EXPECT_EQ(actions_of(step, "selective", {{"parts", "cheap"}}),
            "drop n.0 after 4\nrun 3 before 5\n");
  EXPECT_EQ(actions_of(step, "selective", {{"parts", "all"}}),
            "drop l.0 after 1\ndrop o.0 after 2\ndrop n.0 after 4\n"
            "run 3 before 5\nrun 1 before 7\n");
}

// The last product of a classifier and the softmax of its loss are no attention.
TEST(Selective, AStepWithoutAttentionIsRefusedWithTheReason) {
  const TestStep step(R"(
storage w 4 parameter start end
storage h 12 activation
storage a 12 activation
storage p 4 activation
storage g 4 gradient end
op mm forward : w -> h
op relu forward : h -> a
op _softmax forward : a -> p
op _softmax_backward_data backward : p a h -> g
)",
                      30);
  const PlanOutcome outcome = outcome_of(step, "selective");
  const auto* refusal = std::get_if<Refusal>(&outcome);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, "the step has no attention, and as it is it takes 36 B");
  EXPECT_EQ(refusal->smallest_budget_bytes, 36);
}

}  // namespace
}  // namespace lowtide::policy
