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

// The paper counts what a layer of a transformer keeps in units of sequence x batch x width bytes:
// 34, and 5 x heads x sequence / width for the core of attention (softmax, its dropout and the mask
// of that). For GPT-3 (96 heads, 2048 tokens, width 12288) that is 34 + 80, and the core's 80 go.
constexpr std::string_view kGpt3Layer = R"(
storage w 1 parameter start end
storage x 2 activation
storage n1 2 activation
storage q 2 activation
storage k 2 activation
storage v 2 activation
storage s 32 temporary
storage p 32 activation
storage m 16 activation
storage r 32 activation
storage o 2 activation
storage y 2 temporary
storage z 2 temporary
storage m1 1 activation
storage x2 2 activation
storage n2 2 activation
storage u 8 activation
storage h 8 activation
storage e 2 temporary
storage d 2 temporary
storage m2 1 activation
storage top 200 temporary
storage g 1 gradient end
op embedding forward : w -> x
op native_layer_norm forward : x w -> n1
op mm forward : n1 w -> q
op mm forward : n1 w -> k
op mm forward : n1 w -> v
op bmm forward : q k -> s
op _softmax forward : s -> p free s
op native_dropout forward random : p -> r m
op bmm forward : r v -> o
op mm forward : o w -> y
op native_dropout forward random : y -> z m1 free y
op add forward : x z -> x2 free z
op native_layer_norm forward : x2 w -> n2
op mm forward : n2 w -> u
op gelu forward : u -> h
op mm forward : h w -> e
op native_dropout forward random : e -> d m2 free e
op loss forward : x2 d -> top free d
op loss_backward backward : top -> g free top
op native_dropout_backward backward : m2 g -> g free m2
op mm_backward backward : h g -> g free h
op gelu_backward backward : u g -> g free u
op mm_backward backward : n2 g -> g free n2
op native_layer_norm_backward backward : x2 g -> g free x2
op native_dropout_backward backward : m1 g -> g free m1
op mm_backward backward : o g -> g free o
op bmm_backward backward : r v g -> g free r
op native_dropout_backward backward : m g -> g free m
op _softmax_backward_data backward : p g -> g free p
op bmm_backward backward : q k g -> g free q k v
op mm_backward backward : n1 g -> g free n1
op native_layer_norm_backward backward : x g -> g free x
)";

TEST(Selective, SavesTheShareOfTheCoreThatThePaperNamesForGpt3) {
  const TestStep step(kGpt3Layer, 1);
  const auto bytes_at_top = [&](const Timeline& timeline) {
    return timeline.ticks[17].bytes[static_cast<std::size_t>(StorageKind::kActivation)];
  };
  EXPECT_EQ(bytes_at_top(TestStep(kGpt3Layer, 1000).run("")), 34 + 80);
  const std::int64_t smallest = smallest_budget_of(step, "selective", {{"parts", "core"}});
  const TestStep granted(kGpt3Layer, smallest);
  const Plan plan = plan_of(granted, "selective", {{"parts", "core"}});
  EXPECT_EQ(bytes_at_top(simulate(granted.problem, plan)), 34);
}

}  // namespace
}  // namespace lowtide::policy
