// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/hurry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace lowtide::session {
namespace {

constexpr int kOps = 12;

StorageId add_storage(TraceBuilder& builder, const std::string& name, std::int64_t bytes) {
  Storage made;
  made.name = name;
  made.bytes = bytes;
  return builder.add_storage(std::move(made));
}

// Op 0 makes `a` of 10 bytes, the last op reads it; each op between makes and reads 1 byte. All
// take a second.
std::shared_ptr<const Trace> line() {
  TraceBuilder builder("line");
  const StorageId a = add_storage(builder, "a", 10);
  builder.add_op({.name = "make", .writes = {{a}}, .device_seconds = 1});
  StorageId last = a;
  for (int i = 1; i < kOps - 1; ++i) {
    const StorageId next = add_storage(builder, "b" + std::to_string(i), 1);
    builder.add_op({.name = "pass", .reads = {{last}}, .writes = {{next}}, .device_seconds = 1});
    last = next;
  }
  const StorageId end = add_storage(builder, "end", 1);
  builder.add_op({.name = "use", .reads = {{last}, {a}}, .writes = {{end}}, .device_seconds = 1});
  return std::make_shared<const Trace>(builder.build());
}

class HurryTest : public testing::Test {
 protected:
  HurryTest() {
    use(line());
    problem_.machine.tiers = {{.name = "host",
                               .capacity_bytes = 100,
                               .write_bytes_per_second = 10,
                               .read_bytes_per_second = 10}};
    problem_.machine.allocator.round_bytes = 1;
    problem_.budget_bytes = 13;
    const ValueId a = problem_.trace->writes(OpId{0}).front().value;
    plan_.actions = {Move{.value = a, .tier = TierId{0}, .after = OpId{1}, .codec = {}},
                     Fetch{.value = a, .issue_before = OpId{10}, .needed_by = OpId{kOps - 1}}};
  }

  void use(std::shared_ptr<const Trace> trace) {
    plan_.trace_digest = digest(*trace);
    problem_.trace = std::move(trace);
  }

  OpId issue_after(double late_seconds) const {
    const std::vector<engine::Stall> stalls = {{.action = 1, .seconds = late_seconds}};
    return std::get<Fetch>(hurry(problem_, plan_, stalls).plan.actions[1]).issue_before;
  }

  Problem problem_;
  Plan plan_;
};

TEST_F(HurryTest, AFetchStartsEarlierByAsMuchAsItWasLate) {
  ASSERT_TRUE(verify(problem_, plan_).ok()) << verify(problem_, plan_).violations.front().message;
  EXPECT_EQ(issue_after(2), OpId{7}) << "2.5 seconds of ops before the tenth";
  EXPECT_EQ(issue_after(0.1), OpId{9});
}

TEST_F(HurryTest, WhatIsHardlyLateStays) { EXPECT_EQ(issue_after(1e-6), OpId{10}); }

TEST_F(HurryTest, NotBeforeItsBytesHaveGone) { EXPECT_EQ(issue_after(100), OpId{2}); }

TEST_F(HurryTest, OnlyAsFarAsMemoryAllows) {
  // Too little for the value beside what an op in the middle makes and reads.
  TraceBuilder builder("wide");
  const StorageId a = add_storage(builder, "a", 10);
  const StorageId wide = add_storage(builder, "wide", 8);
  builder.add_op({.name = "make", .writes = {{a}}, .device_seconds = 1});
  builder.add_op({.name = "read", .reads = {{a}}, .device_seconds = 1});
  for (int i = 2; i < 8; ++i) builder.add_op({.name = "small", .device_seconds = 1});
  builder.add_op({.name = "widen", .writes = {{wide}}, .device_seconds = 1});
  builder.add_op({.name = "narrow", .reads = {{wide}}, .device_seconds = 1});
  builder.add_op({.name = "small", .device_seconds = 1});
  builder.add_op({.name = "use", .reads = {{a}}, .device_seconds = 1});
  use(std::make_shared<const Trace>(builder.build()));
  ASSERT_TRUE(verify(problem_, plan_).ok()) << verify(problem_, plan_).violations.front().message;
  EXPECT_EQ(issue_after(4), OpId{10}) << "the wide one is there before";
}

TEST_F(HurryTest, WhatAnotherPlanFetchedIsLeftAlone) {
  const std::vector<engine::Stall> stalls = {{.action = 1'000'000, .seconds = 5},
                                             {.action = -1, .seconds = 5}};
  const HurriedPlan hurried = hurry(problem_, plan_, stalls);
  EXPECT_EQ(hurried.fetches, 0);
  EXPECT_EQ(hurried.plan, plan_);
}

TEST_F(HurryTest, OtherActionsAreLeftAlone) {
  const std::vector<engine::Stall> stalls = {{.action = 0, .seconds = 5}};
  const HurriedPlan hurried = hurry(problem_, plan_, stalls);
  EXPECT_EQ(hurried.fetches, 0);
  EXPECT_EQ(hurried.plan, plan_);
}

}  // namespace
}  // namespace lowtide::session
