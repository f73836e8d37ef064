// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/fixture_test.h"
#include "plan/json.h"

namespace lowtide::plan {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTrace = R"(
storage layer.weight 1 parameter start end
storage a 10 activation codec=half:4:1:1
storage d 1 activation end
op f forward option=slow:3:0 option=lean:2:0 : layer.weight -> a
op g forward : a -> a
op i backward : a -> d
)";

// Every action, and every form of it, as print_text writes it.
constexpr const char* kActions =
    R"(starts layer.weight host
drop a.0 after 0
drop a.1 before end
hold a.0 until end
hold a.1 from 1 until 2
run 0 before 2
run 1 before end
move a.1 disk after 1
move a.1 host after 1 codec half
fetch a.1 issue 2 need end
encode a.1 half after 1
decode a.1 before 2
choose 0 lean
place a.0 offset 4096
place layer.weight.0 pool 3
order 0 1 2
online dtr sample=4 score=
)";

std::string head(const Problem& problem) {
  return "lowtide-plan 1\npolicy test\ntrace " + digest(*problem.trace) + "\nbudget 1000\n";
}

TEST(PlanText, RoundTripsEveryAction) {
  const Problem problem = problem_of(kTrace);
  const std::string text = head(problem) + kActions;
  const Plan plan = parse_text(text, problem);
  EXPECT_EQ(plan.actions.size(), 15U);
  EXPECT_EQ(plan.actions[3], Action(Hold{ValueId{2}, OpId{2}, OpId{1}}));
  EXPECT_EQ(plan.actions[11], Action(Choose{OpId{0}, 1}));
  EXPECT_EQ(print_text(plan, problem), text);
  EXPECT_EQ(parse_text(print_text(plan, problem), problem), plan);
}

TEST(PlanText, SkipsCommentsAndBlankLines) {
  const Problem problem = problem_of(kTrace);
  const Plan plan =
      parse_text("# made by hand\n\n" + head(problem) + "drop a.0 after 0 # why\n", problem);
  EXPECT_EQ(plan.actions, std::vector<Action>{Action(Drop{ValueId{1}, OpId{0}})});
}

TEST(PlanText, PlanOfAnotherTraceIsRefusedBeforeItsNamesAreRead) {
  const Problem problem = problem_of(kTrace);
  const std::string text =
      "lowtide-plan 1\npolicy p\ntrace 0123456789abcdef\nbudget 1\ndrop nothing.0 after 77\n";
  EXPECT_EQ(refusal_of([&] { parse_text(text, problem); }),
            "line 3: this plan belongs to another trace (digest 0123456789abcdef, this trace has " +
                digest(*problem.trace) + "); plan it again with `lowtide plan`");
}

struct BadText {
  const char* lines;
  const char* message;
};

class BadAction : public testing::TestWithParam<BadText> {};

TEST_P(BadAction, IsRefusedWithItsLine) {
  const Problem problem = problem_of(kTrace);
  const std::string text = head(problem) + "drop a.0 after 0\n" + GetParam().lines;
  const std::string refusal = refusal_of([&] { parse_text(text, problem); });
  EXPECT_THAT(refusal, HasSubstr("line 6: "));
  EXPECT_THAT(refusal, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadAction,
    testing::Values(
        BadText{"drip a.0 after 0", "unknown action 'drip'; known are drop, hold"},
        BadText{"drop a.0", "write: drop VALUE after OP, or drop VALUE before OP"},
        BadText{"drop a.0 after 0 before 1", "write: drop VALUE after OP"},
        BadText{"drop a.0 until 0", "write: drop VALUE after OP"},
        BadText{"drop", "write: drop VALUE after OP"},
        BadText{"drop a after 0", "not a value: 'a'; write STORAGE.VERSION"},
        BadText{"drop a.2 after 0", "the trace has no value 'a.2'; the storage has 2 versions"},
        BadText{"drop a.-1 after 0", "the trace has no value 'a.-1'"},
        BadText{"drop z.0 after 0", "the trace has no storage 'z'"},
        BadText{"drop a.0 after 3", "the trace has no op '3'; write an index below 3 or 'end'"},
        BadText{"drop a.0 after end", "cannot stand at the end of the step"},
        BadText{"run end before end", "cannot stand at the end of the step"},
        BadText{"move a.0 host after end", "cannot stand at the end of the step"},
        BadText{"encode a.0 half after end", "cannot stand at the end of the step"},
        BadText{"choose end slow", "the end of the step has no implementation"},
        BadText{"hold a.0 from 1", "write: hold VALUE [from OP] until OP"},
        BadText{"move a.0 attic after 0", "machine unit has no tier 'attic'"},
        BadText{"move a.0 host after 0 codec zip", "storage a has no codec 'zip'"},
        BadText{"encode a.0 zip after 0", "storage a has no codec 'zip'"},
        BadText{"choose 0 fast", "f (op 0) has no implementation 'fast'"},
        BadText{"place a.0 offset -1", "an offset must not be negative"},
        BadText{"place a.0 pool x", "not a number for pool: 'x'"},
        BadText{"order 0 end", "an order lists ops only"},
        BadText{"starts a", "write: starts STORAGE TIER"},
        BadText{"online", "write: online POLICY"},
        BadText{"online dtr sample", "not KEY=VALUE: 'sample'"},
        BadText{"online dtr a=1 a=2", "the option 'a' stands twice"}));

struct BadHead {
  const char* text;
  const char* message;
};

class BadStart : public testing::TestWithParam<BadHead> {};

TEST_P(BadStart, IsRefused) {
  const Problem problem = problem_of(kTrace);
  EXPECT_THAT(refusal_of([&] { parse_text(GetParam().text, problem); }),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadStart,
    testing::Values(BadHead{"", "the first line must be 'lowtide-plan 1'"},
                    BadHead{"lowtide-trace 1\n", "line 1: not a plan"},
                    BadHead{"lowtide-plan 2\n", "plan version 2 is not known"},
                    BadHead{"lowtide-plan 1\n", "ends before its lines policy, trace and budget"},
                    BadHead{"lowtide-plan 1\ntrace 0\n", "expected 'policy NAME', found 'trace'"}));

TEST(PlanText, WhatAFileCannotSayIsNotPrinted) {
  const Problem problem = problem_of(kTrace);
  Plan plan = parse_text(head(problem), problem);
  plan.actions = {Drop{ValueId{50}, OpId{0}}};
  EXPECT_THAT(refusal_of([&] { print_text(plan, problem); }), HasSubstr("there is no value 50"));
  plan.actions = {Order{{OpId{9}}}};
  EXPECT_THAT(refusal_of([&] { print_json(plan, problem); }), HasSubstr("the order names op 9"));
  plan.actions.clear();
  plan.policy = "two words";
  EXPECT_THAT(refusal_of([&] { print_text(plan, problem); }), HasSubstr("not a name for a policy"));
}

TEST(PlanJson, RoundTripsEveryAction) {
  const Problem problem = problem_of(kTrace);
  const Plan plan = parse_text(head(problem) + kActions, problem);
  const std::string json = print_json(plan, problem);
  EXPECT_EQ(parse_json(json, problem), plan);
  EXPECT_EQ(print_json(parse_json(json, problem), problem), json);
}

TEST(PlanJson, ParseAnyTellsTheFormsApart) {
  const Problem problem = problem_of(kTrace);
  const Plan plan = parse_text(head(problem) + kActions, problem);
  EXPECT_EQ(parse_any("\n " + print_json(plan, problem), problem), plan);
  EXPECT_EQ(parse_any("\n" + print_text(plan, problem), problem), plan);
  EXPECT_EQ(refusal_of([&] { parse_any(" \n", problem); }), "the plan is empty");
}

struct BadJson {
  const char* fields;
  const char* message;
};

class BadJsonAction : public testing::TestWithParam<BadJson> {};

TEST_P(BadJsonAction, IsRefusedWithItsPath) {
  const Problem problem = problem_of(kTrace);
  const std::string text =
      R"({"format": "lowtide-plan", "version": 1, "policy": "p", "budget_bytes": 5, )"
      R"("trace_digest": ")" +
      digest(*problem.trace) + "\", " + GetParam().fields + "}";
  EXPECT_THAT(refusal_of([&] { parse_json(text, problem); }), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadJsonAction,
    testing::Values(
        BadJson{R"("actions": 3)", "plan.actions: expected a list"},
        BadJson{R"("actions": [3])", "plan.actions[0]: expected an object"},
        BadJson{R"("actions": [{"do": "drip"}])", "plan.actions[0]: unknown action 'drip'"},
        BadJson{R"("actions": [{"do": "drop", "after": 1}])",
                "plan.actions[0].value: expected this field, which is missing"},
        BadJson{R"("actions": [{"do": "drop", "value": "a.0"}])",
                "plan.actions[0]: write: drop VALUE after OP"},
        BadJson{R"("actions": [{"do": "drop", "value": 1, "after": 1}])",
                "plan.actions[0].value: expected a string"},
        BadJson{R"("actions": [{"do": "drop", "value": "a.0", "after": "1"}])",
                "plan.actions[0].after: expected a whole number"},
        BadJson{R"("actions": [{"do": "drop", "value": "a.0", "after": 3}])",
                "plan.actions[0]: the trace has no op '3'"},
        BadJson{R"("actions": [{"do": "order"}])", "plan.actions[0].ops: expected this field"},
        BadJson{R"("starts": [{"storage": "z", "tier": "host"}])",
                "plan.starts[0]: the trace has no storage 'z'"},
        BadJson{R"("online": {"policy": "a b"})", "not a name for an online policy: 'a b'"},
        BadJson{R"("online": {"policy": "p", "options": {"k": 1}})",
                "plan.online.options.k: expected a string"}));

TEST(PlanJson, PlanOfAnotherTraceIsRefused) {
  const Problem problem = problem_of(kTrace);
  EXPECT_THAT(refusal_of([&] {
                parse_json(R"({"format": "lowtide-plan", "version": 1, "policy": "p",
                               "trace_digest": "0", "budget_bytes": 5,
                               "actions": [{"do": "drop", "value": "z.0", "after": 99}]})",
                           problem);
              }),
              HasSubstr("this plan belongs to another trace (digest 0, this trace has "));
}

}  // namespace
}  // namespace lowtide::plan
