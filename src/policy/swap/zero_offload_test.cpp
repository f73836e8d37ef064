// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Two layers with parameters p and q, gradients g and h, and the states m and n of their optimizer.
constexpr std::string_view kStorages = R"(
storage x 1 input start
storage p 2 parameter start end
storage q 2 parameter start end
storage m 4 state start end
storage n 4 state start end
storage a 6 activation
storage d 6 activation
storage g 2 gradient
storage h 2 gradient
op f1 forward : x p -> a
op f2 forward : a q -> d
op b2 backward : a d q -> h d
op b1 backward : d x p -> g free d a
)";

std::string with_adam(const std::string& option) {
  return std::string(kStorages) + "op adam optimizer once " + option + " : p g m -> p m free g\n" +
         "op adam optimizer once " + option + " : q h n -> q n free h\n";
}

TEST(ZeroOffload, StatesAreInHostMemoryAndStreamThroughTheOptimizer) {
  // The forward pass and the backward pass have neither of the states. When h is made, 19 bytes are
  // there, and no room for g besides: it leaves until the activations are gone.
  const TestStep step(with_adam(""), 20);
  EXPECT_EQ(actions_of(step, "zero_offload"),
            "starts m host\nstarts n host\n"
            "move h.0 host after 2\n"
            "fetch m.0 issue 4 need 4\nfetch n.0 issue 4 need 5\nfetch h.0 issue 4 need 5\n"
            "move m.1 host after 4\nmove n.1 host after 5\n");
}

TEST(ZeroOffload, AGradientThatWouldBeBackAtOnceStays) {
  EXPECT_EQ(actions_of(TestStep(with_adam(""), 21), "zero_offload"),
            "starts m host\nstarts n host\n"
            "fetch m.0 issue 4 need 4\nfetch n.0 issue 4 need 5\n"
            "move m.1 host after 4\nmove n.1 host after 5\n");
}

TEST(ZeroOffload, WithCpuAdamTheStatesNeverMove) {
  // Parameters go over when the backward pass is through with them, and come back updated.
  const TestStep step(with_adam("option=cpu:2:0:host"), 21);
  EXPECT_EQ(actions_of(step, "zero_offload"),
            "starts m host\nstarts n host\nchoose 4 cpu\nchoose 5 cpu\n"
            "move q.0 host after 2\nmove h.0 host after 2\n"
            "move p.0 host after 3\nmove g.0 host after 3\n"
            "fetch p.1 issue 5 need end\nfetch q.1 issue end need end\n");
  EXPECT_EQ(count_of<Choose>(plan_of(step, "zero_offload", {{"optimizer", "device"}})), 0);
}

TEST(ZeroOffload, AnInexactCpuAdamNeedsLeave) {
  TestStep step(with_adam("option=cpu:2:0:inexact:host"), 21);
  EXPECT_EQ(count_of<Choose>(plan_of(step, "zero_offload")), 0);
  step.problem.allow_lossy = true;
  EXPECT_EQ(count_of<Choose>(plan_of(step, "zero_offload")), 2);
}

TEST(ZeroOffload, AnOpOnTheHostHandsItsResultToOneOnTheDevice) {
  // The first op of this optimizer has an implementation for the host, the second has none.
  const TestStep step(R"(
storage p 2 parameter start end
storage m 4 state start end
storage g 2 gradient
storage t 4 temporary
op f forward : p ->
op b backward : p -> g
op ema optimizer once option=cpu:1:0:host : g m -> m t
op update optimizer once : p t -> p
)");
  EXPECT_EQ(actions_of(step, "zero_offload"),
            "starts m host\nchoose 2 cpu\nmove g.0 host after 1\nfetch t.0 issue 3 need 3\n");
}

TEST(ZeroOffload, BetweenTwoOpsOfTheOptimizerStatesStayWhereThereIsRoom) {
  constexpr std::string_view kMoments = R"(
storage p 2 parameter start end
storage m 4 state start end
storage v 4 state start end
storage g 2 gradient
op b backward : p -> g
op lerp optimizer once : m g -> m
op square optimizer once : v g -> v
op update optimizer once : p m v -> p
)";
  EXPECT_EQ(actions_of(TestStep(kMoments, 12), "zero_offload"),
            "starts m host\nstarts v host\nfetch m.0 issue 0 need 1\nfetch v.0 issue 0 need 2\n"
            "move m.1 host after 3\nmove v.1 host after 3\n");
  EXPECT_EQ(actions_of(TestStep(kMoments, 11), "zero_offload"),
            "starts m host\nstarts v host\nfetch m.0 issue 0 need 1\nmove m.1 host after 1\n"
            "fetch v.0 issue 2 need 2\nfetch m.1 issue 3 need 3\n"
            "move m.1 host after 3\nmove v.1 host after 3\n");
}

TEST(ZeroOffload, ActivationsSetTheFloorAndARefusalNamesIt) {
  const std::int64_t smallest = smallest_budget_of(TestStep(with_adam(""), 10), "zero_offload");
  EXPECT_EQ(smallest, 19);
  plan_of(TestStep(with_adam(""), smallest), "zero_offload");
  TestStep step(with_adam(""), 10);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(smallest_budget_of(step, "zero_offload"), 29);
}

TEST(ZeroOffload, HostMemoryTakesNoMoreThanItHolds) {
  TestStep step(with_adam("option=cpu:2:0:host"), 29);
  step.problem.machine.tiers.front().capacity_bytes = 5;
  // One of the states.
  EXPECT_EQ(plan_of(step, "zero_offload").starts.size(), 1U);
}

// Mixed precision with Adam takes 16 bytes a parameter: 2 of it and 2 of its gradient in half
// precision, 12 of states. The paper keeps the 2 on the device and the rest on the host.
TEST(ZeroOffload, OfSixteenBytesAParameterTwoStayAsThePaperCounts) {
  constexpr std::string_view kTwoLayers = R"(
storage x 10 input start
storage p1 2000 parameter start end
storage p2 2000 parameter start end
storage s1 12000 state start end
storage s2 12000 state start end
storage g1 2000 gradient
storage g2 2000 gradient
storage a1 10 activation
storage a2 10 activation
op f1 forward : x p1 -> a1
op f2 forward : a1 p2 -> a2
op b2 backward : a2 p2 -> g2 free a2
op b1 backward : a1 p1 -> g1 free a1
op adam optimizer once option=cpu:1:0:host : p1 g1 s1 -> p1 s1 free g1
op adam optimizer once option=cpu:1:0:host : p2 g2 s2 -> p2 s2 free g2
)";
  const std::int64_t smallest = smallest_budget_of(TestStep(kTwoLayers, 1), "zero_offload");
  // The parameters, and beside the activations one gradient that is on its way.
  EXPECT_EQ(smallest, 2 * 2000 + 2000 + 20);
  const TestStep step(kTwoLayers, smallest);
  const Timeline timeline = simulate(step.problem, plan_of(step, "zero_offload"));
  EXPECT_EQ(timeline.tier_peak_bytes[0], 2 * 16000);
  const Timeline plain = TestStep(kTwoLayers, 40000).run("");
  EXPECT_EQ(plain.peak_bytes, 2 * 16000 + 10);
}

}  // namespace
}  // namespace lowtide::policy
