// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/storage_story.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/recompute_price.h"
#include "report/test_run.h"

namespace lowtide::report {
namespace {

using Fate = StorageStory::Fate;

StorageStory story_of(const Study& study, std::string_view name) {
  for (StorageStory& story : tell_storages(study, 100)) {
    if (study.trace().storage(story.storage).name == name) return std::move(story);
  }
  return {};
}

TEST(StorageStory, OfAMovedStorageSaysWhetherItsCopiesAreHidden) {
  const RunRecord hidden =
      test_record(kIdleStep, "move a.0 host after 1\nfetch a.0 issue 3 need 4\n", 20);
  const StorageStory early = story_of(study(hidden, 1), "a");
  EXPECT_EQ(early.fate, Fate::kMoved);
  EXPECT_EQ(early.place, "first");
  EXPECT_EQ(early.idle_seconds, 20);
  EXPECT_EQ(early.copy_seconds, 8);
  EXPECT_EQ(early.exposed_seconds, 0);
  EXPECT_EQ(early.transfer_seconds, 8);
  EXPECT_EQ(early.recompute_seconds, 1) << "f0 reads a parameter, which is there";
  EXPECT_THAT(early.reason, testing::HasSubstr("hidden"));

  const RunRecord exposed =
      test_record(kIdleStep, "move a.0 host after 1\nfetch a.0 issue 4 need 4\n", 20);
  const StorageStory late = story_of(study(exposed, 1), "a");
  EXPECT_EQ(late.exposed_seconds, 4);
  EXPECT_THAT(late.reason, testing::HasSubstr("4 s of its copies are waited for"));
}

TEST(StorageStory, OfADroppedStorageSaysWhatItTookToMakeItAgain) {
  const RunRecord record = test_record(kIdleStep, "drop a.0 after 1\nrun 0 before 4\n", 20);
  const Study result = study(record, 1);
  const StorageStory story = story_of(result, "a");
  EXPECT_EQ(story.fate, Fate::kRecomputed);
  EXPECT_EQ(story.replays, 1);
  EXPECT_EQ(story.replay_seconds, 1);
  EXPECT_EQ(tell_storages(result, 100).front().storage, story.storage) << "it comes first";
  EXPECT_EQ(tell_storages(result, 1).size(), 1U);
}

TEST(StorageStory, OfAKeptStorageSaysWhyItStayed) {
  const RunRecord record =
      test_record(kIdleStep, "move a.0 host after 1\nfetch a.0 issue 3 need 4\n", 20);
  const Study result = study(record, 1);
  EXPECT_EQ(story_of(result, "b").fate, Fate::kKept);
  EXPECT_THAT(story_of(result, "b").reason, testing::HasSubstr("never idle"));
  const RunRecord plain = test_record();
  EXPECT_EQ(story_of(study(plain, 1), "a").reason, "nothing was planned");
}

using Deed = plan::OnlineDeed;

TEST(StorageStory, OfTheOnlineRuleSaysWhatItDidAndWhatItWentBy) {
  RunRecord record = test_record(kIdleStep, {}, 16);
  record.online = {
      {.kind = Deed::Kind::kMove,
       .storage = StorageId{1},
       .op = OpId{2},
       .price = {.drop_seconds = 9, .move_seconds = 8, .unused_seconds = 10},
       .is_copied = true},
      {.kind = Deed::Kind::kDrop,
       .storage = StorageId{2},
       .op = OpId{3},
       .price = {.drop_seconds = 1, .move_seconds = 6, .unused_seconds = 0.5}},
      {.kind = Deed::Kind::kDrop,
       .storage = StorageId{3},
       .op = OpId{3},
       .price = {.drop_seconds = 11, .move_seconds = {}, .unused_seconds = 2}},
      {.kind = Deed::Kind::kReplay, .storage = StorageId{3}, .op = OpId{4}, .seconds = 10},
      {.kind = Deed::Kind::kReplay, .storage = StorageId{3}, .op = OpId{4}, .seconds = 1},
      {.kind = Deed::Kind::kFetch, .storage = StorageId{1}, .op = OpId{4}},
      {.kind = Deed::Kind::kFetch, .storage = StorageId{0}, .op = OpId{4}},
  };
  const Study result = study(record, 1);
  const StorageStory moved = story_of(result, "a");
  EXPECT_EQ(moved.fate, Fate::kMoved);
  EXPECT_EQ(std::pair(moved.moves, moved.fetches), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(moved.exposed_seconds, 8) << "four bytes out and back";
  EXPECT_EQ(moved.recompute_seconds, 9);
  EXPECT_EQ(moved.reason,
            "unused for 10 s when room was needed; moving was taken to cost 8 s, recomputing 9 s");

  const StorageStory dropped = story_of(result, "b");
  EXPECT_EQ(dropped.fate, Fate::kDropped);
  EXPECT_THAT(dropped.reason, testing::HasSubstr("not asked for again"));

  const StorageStory replayed = story_of(result, "c");
  EXPECT_EQ(replayed.fate, Fate::kRecomputed);
  EXPECT_EQ(replayed.replay_seconds, 11);
  EXPECT_THAT(replayed.reason, testing::HasSubstr("recomputing 11 s; running again took 11 s"));

  EXPECT_THAT(story_of(result, "w").reason, testing::HasSubstr("away when the step began"));
  EXPECT_EQ(story_of(result, "e").reason, "never idle between its uses");
}

// A plan of the step before had begun to move a; what the rule did not choose has no price.
TEST(StorageStory, OfWhatTheOnlineRuleDidNotChooseNamesNoPrice) {
  const Deed by_plan{
      .kind = Deed::Kind::kMove, .storage = StorageId{1}, .op = OpId{2}, .is_copied = true};
  const Deed back{.kind = Deed::Kind::kFetch, .storage = StorageId{1}, .op = OpId{4}};
  RunRecord record = test_record(kIdleStep, {}, 16);
  record.online = {by_plan, back};
  const StorageStory moved = story_of(study(record, 1), "a");
  EXPECT_EQ(moved.fate, Fate::kMoved);
  EXPECT_FALSE(moved.price);
  EXPECT_EQ(moved.recompute_seconds, 1) << "f0 could run again";
  EXPECT_EQ(moved.reason, "a plan had begun to move it; the rule did not choose it");

  Deed chosen = by_plan;
  chosen.price = {.drop_seconds = 9, .move_seconds = 8, .unused_seconds = 10};
  record.online = {by_plan, back, chosen, back};
  const StorageStory again = story_of(study(record, 1), "a");
  EXPECT_EQ(again.reason,
            "unused for 10 s when room was needed; moving was taken to cost 8 s, recomputing 9 s");
}

TEST(StorageStory, OfAnOnlineRuleThatHadNothingToDoSaysSo) {
  RunRecord record = test_record(kIdleStep, {}, 100);
  record.online.emplace();
  EXPECT_EQ(story_of(study(record, 1), "a").reason, "there was room for all");
}

// b needs a, and a needs x, which f2 overwrites.
constexpr std::string_view kChain = R"(
storage x 1 input start end
storage a 2 activation
storage b 3 activation
storage c 4 activation end
op f0 forward device=5 : x -> a
op f1 forward device=6 : a -> b
op f2 forward : -> x
op f3 forward device=7 : b -> c
)";

TEST(RecomputePrices, CountOpsThatWouldRunAgainAndKnowWhereThereIsNoWay) {
  const RunRecord record = test_record(kChain);
  const SimulatedStep step = simulate_plain(record);
  const RecomputePrices prices(step);
  const auto value = [&](std::string_view name) {
    const auto& values = record.trace->values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (record.trace->value_name(make_id<ValueId>(i)) == name) return make_id<ValueId>(i);
    }
    return ValueId{};
  };
  EXPECT_EQ(prices.of(value("b.0"), OpId{1}), 6) << "a is still there";
  EXPECT_EQ(prices.of(value("b.0"), OpId{2}), 11) << "a is gone, x is there for the last time";
  EXPECT_EQ(prices.of(value("b.0"), OpId{3}), std::nullopt) << "x was overwritten";
  EXPECT_EQ(prices.of(value("x.0"), OpId{1}), std::nullopt) << "nobody made it";
}

}  // namespace
}  // namespace lowtide::report
