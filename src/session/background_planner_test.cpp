// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/background_planner.h"

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::session {
namespace {

constexpr std::int64_t kBudget = 13;

// Op 0 makes `a` of 10 bytes, the last op reads it; each op between makes and reads 1 byte.
PlanRequest request() {
  std::string text = "storage a 10 activation\n";
  std::string ops = "op make forward device=1 : -> a\n";
  std::string last = "a";
  for (int i = 1; i < 11; ++i) {
    const std::string next = "b" + std::to_string(i);
    text += "storage " + next + " 1 temporary\n";
    ops += "op pass forward device=1 : " + last + " -> " + next + "\n";
    last = next;
  }
  text += "storage end 1 temporary\n" + ops + "op use forward device=1 : " + last + " a -> end\n";
  PlanRequest request;
  request.problem = sim::TestStep(text, kBudget).problem;
  request.step.trace = request.problem.trace;
  request.step.script.lines.resize(request.problem.trace->ops().size());
  return request;
}

// Keeps everything, and says that it needs so much for that.
class KeepsAll final : public Policy {
 public:
  explicit KeepsAll(std::int64_t needed_bytes) : needed_bytes_(needed_bytes) {}
  PlanOutcome plan(const Problem& problem) const override {
    if (problem.budget_bytes < needed_bytes_) return Refusal{"it is too much", needed_bytes_};
    Plan plan;
    plan.policy = "keeps_all";
    plan.trace_digest = digest(*problem.trace);
    plan.budget_bytes = problem.budget_bytes;
    return plan;
  }

 private:
  const std::int64_t needed_bytes_;
};

PlanResult planned_by(const PlanRequest& request, std::unique_ptr<Policy> policy) {
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::move(policy));
  return plan_step(request, policies);
}

TEST(PlanStep, SimulatesThePlanAndReservesWhatItMoves) {
  PlanRequest asked = request();
  asked.outside_bytes = 5;
  std::int64_t reserved = 0;
  asked.reserve_host = [&](std::int64_t bytes) { reserved = bytes; };
  asked.problem.budget_bytes = 12;
  const PlanResult result = planned_by(asked, policy_named("evict_all").make({}));
  ASSERT_TRUE(result.guided) << result.reason;
  const Timeline timeline = simulate(result.problem, result.guided->plan());
  EXPECT_EQ(result.predicted_seconds, timeline.seconds);
  EXPECT_EQ(result.predicted_peak_bytes, timeline.peak_bytes);
  EXPECT_GT(result.predicted_host_bytes, 0);
  EXPECT_EQ(reserved, result.predicted_host_bytes);
  EXPECT_EQ(result.outside_bytes, 5);
}

TEST(PlanStep, TakesTheQuickestPlanOfThoseThatFit) {
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(policy_named("evict_all").make({}));
  policies.push_back(std::make_unique<KeepsAll>(kBudget));
  const double slow = planned_by(request(), policy_named("evict_all").make({})).predicted_seconds;
  const PlanResult result = plan_step(request(), policies);
  ASSERT_TRUE(result.guided);
  EXPECT_EQ(result.guided->plan().policy, "keeps_all");
  EXPECT_LT(result.predicted_seconds, slow);
}

TEST(PlanStep, TakesTheTightestPlanOfAPolicyThatComesClose) {
  const PlanResult close = planned_by(request(), std::make_unique<KeepsAll>(16));
  EXPECT_TRUE(close.guided);
  EXPECT_EQ(close.problem.budget_bytes, 16);
  const PlanResult far = planned_by(request(), std::make_unique<KeepsAll>(17));
  EXPECT_FALSE(far.guided);
  EXPECT_THAT(far.reason, testing::HasSubstr("it is too much"));
}

TEST(PlanStep, ChecksWhatAPolicyMakes) {
  PlanRequest asked = request();
  asked.problem.budget_bytes = 5;
  EXPECT_ANY_THROW(planned_by(asked, std::make_unique<KeepsAll>(0)));
}

TEST(BackgroundPlanner, PlansWhileItsUserGoesOn) {
  BackgroundPlanner planner;
  std::promise<void> permission;
  planner.submit(7, [permitted = permission.get_future().share()] {
    permitted.wait();
    PlanResult result;
    result.shape = 7;
    return result;
  });
  EXPECT_TRUE(planner.is_busy());
  EXPECT_FALSE(planner.poll());
  permission.set_value();
  EXPECT_EQ(planner.wait().shape, 7U);
  EXPECT_FALSE(planner.is_busy());
}

TEST(BackgroundPlanner, WhatFailsIsTheReasonThatThereIsNoPlan) {
  BackgroundPlanner planner;
  planner.submit(3, []() -> PlanResult { throw std::runtime_error("no idea"); });
  const PlanResult result = planner.wait();
  EXPECT_EQ(result.shape, 3U);
  EXPECT_FALSE(result.guided);
  EXPECT_EQ(result.reason, "no idea");
}

}  // namespace
}  // namespace lowtide::session
