// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "report/test_run.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

constexpr std::string_view kMove = "move a.0 host after 1\nfetch a.0 issue 3 need 4\n";

RunRecord full_record() {
  RunRecord record = test_record(kIdleStep, kMove, 15);
  record.batch = 8;
  record.outside_bytes = 3;
  record.statistics = {{"peak_bytes", 14}, {"recompute_seconds", 0.5}, {"disk_io", "threads"}};
  record.step_seconds = {24, 23.5};
  record.allowed = {.recompute = false};
  return record;
}

std::string fault_of(const std::string& text) {
  try {
    parse_run_record(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(RunRecord, IsReadBackAsItWasWritten) {
  const std::string text = print_run_record(full_record());
  const RunRecord read = parse_run_record(text);
  EXPECT_EQ(print_run_record(read), text);
  EXPECT_EQ(read.title, "a test");
  EXPECT_EQ(read.batch, 8);
  EXPECT_EQ(read.plan, full_record().plan);
  EXPECT_EQ(read.statistics, full_record().statistics);
  EXPECT_EQ(read.step_seconds, full_record().step_seconds);
  EXPECT_EQ(read.step_budget_bytes(), 12);
  EXPECT_EQ(read.allowed, full_record().allowed);
}

TEST(RunRecord, FromBeforeMeansWereTellsOfAll) {
  json document = json::parse(print_run_record(full_record()));
  document.erase("may_recompute");
  document.erase("may_move");
  EXPECT_EQ(parse_run_record(document.dump()).allowed, policy::AllowedMeans{});
}

TEST(RunRecord, WithoutAPlanHasNull) {
  const std::string text = print_run_record(test_record());
  EXPECT_TRUE(json::parse(text).at("plan").is_null());
  EXPECT_FALSE(parse_run_record(text).plan);
}

RunRecord online_record() {
  using Deed = plan::OnlineDeed;
  RunRecord record = test_record();
  record.online = {
      {.kind = Deed::Kind::kDrop,
       .storage = StorageId{1},
       .op = OpId{3},
       .price = {.drop_seconds = 0.5, .move_seconds = {}, .unused_seconds = 2}},
      {.kind = Deed::Kind::kReplay, .storage = StorageId{1}, .op = OpId{4}, .seconds = 3},
      {.kind = Deed::Kind::kMove,
       .storage = StorageId{0},
       .op = OpId{5},
       .price = {.drop_seconds = {}, .move_seconds = 4, .unused_seconds = 1},
       .is_copied = true},
      {.kind = Deed::Kind::kFetch, .storage = StorageId{0}, .op = OpId{5}}};
  return record;
}

TEST(RunRecord, HasWhatTheOnlineRuleDidOrNull) {
  const RunRecord record = online_record();
  EXPECT_EQ(parse_run_record(print_run_record(record)).online, record.online);
  EXPECT_TRUE(json::parse(print_run_record(test_record())).at("online").is_null());
  EXPECT_FALSE(parse_run_record(print_run_record(test_record())).online);
  json older = json::parse(print_run_record(test_record()));
  older.erase("online");
  EXPECT_FALSE(parse_run_record(older.dump()).online);
}

// What was done with a storage is told by one of them, so both would tell two stories of one step.
TEST(RunRecord, WithAPlanAndDeedsOfTheOnlineRuleIsRefused) {
  json document = json::parse(print_run_record(full_record()));
  document["online"] = json::array();
  EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr("run.online: expected null beside a"));
}

TEST(RunRecord, BadDeedsOfTheOnlineRuleAreNamed) {
  struct Case {
    const char* field;
    json value;
    const char* fault;
  };
  const Case cases[] = {
      {"do", "forget",
       "run.online[0].do: expected drop, move, fetch, replay or away, found forget"},
      {"storage", 6, "run.online[0].storage: expected a number below 6, found 6"},
      {"storage", -1, "run.online[0].storage: expected a number below 6, found -1"},
      {"op", 6, "run.online[0].op: expected a number below 6, found 6"},
      {"drop_seconds", -1, "run.online[0].drop_seconds: expected a time"},
      {"unused_seconds", "long", "run.online[0].unused_seconds: expected a number"},
  };
  for (const Case& bad : cases) {
    json document = json::parse(print_run_record(online_record()));
    document["online"][0][bad.field] = bad.value;
    EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr(bad.fault)) << bad.field;
  }
}

TEST(RunRecord, BadFieldsAreNamed) {
  struct Case {
    const char* field;
    json value;
    const char* fault;
  };
  const Case cases[] = {
      {"version", 2, "lowtide-run version 2 is not known to this build"},
      {"format", "lowtide-trace", "expected \"format\": \"lowtide-run\""},
      {"title", 3, "run.title: expected a string"},
      {"budget_bytes", -1, "run.budget_bytes: expected no less than 0"},
      {"trace", json::object(), "lowtide-trace"},
      {"machine", 4, "lowtide-machine"},
      {"plan", "none", "lowtide-plan"},
      {"may_move", 1, "run.may_move: expected true or false"},
      {"may_move", false, "run.may_move: expected true where may_recompute is false"},
      {"statistics", json::array(), "run.statistics: expected an object"},
      {"statistics", {{"steps", json::array()}}, "run.statistics.steps: expected a number"},
      {"step_seconds", {1, -1}, "run.step_seconds[1]: expected a time"},
  };
  for (const Case& bad : cases) {
    json document = json::parse(print_run_record(full_record()));
    document[bad.field] = bad.value;
    EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr(bad.fault)) << bad.field;
  }
  for (const char* field : {"trace", "machine", "plan"}) {
    json document = json::parse(print_run_record(full_record()));
    document.erase(field);
    EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr("which is missing")) << field;
  }
}

TEST(RunRecord, CutShortIsToldWhereverItWasCut) {
  const std::string text = print_run_record(full_record());
  for (std::size_t size = 0; size + 2 < text.size(); size += 37) {
    EXPECT_NE(fault_of(text.substr(0, size)), "") << "after " << size << " bytes";
  }
}

TEST(RunRecord, APlanForAnotherStepIsRefused) {
  json document = json::parse(print_run_record(full_record()));
  document["plan"]["trace_digest"] = "0123456789abcdef";
  EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr("another trace"));
}

TEST(RunRecord, IsToldFromATrace) {
  const std::string text = print_run_record(full_record());
  EXPECT_TRUE(is_run_record(text));
  EXPECT_TRUE(is_run_record(text.substr(0, text.size() / 2)));
  EXPECT_FALSE(is_run_record("lowtide-trace 1\nname \"lowtide-run\"\n"));
  EXPECT_FALSE(is_run_record("{\"format\": \"lowtide-trace\"}"));
  EXPECT_FALSE(is_run_record(""));
}

}  // namespace
}  // namespace lowtide::report
