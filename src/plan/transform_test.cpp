// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/bounds.h"
#include "plan/fixture_test.h"
#include "trace/text.h"

namespace lowtide::plan {
namespace {

using testing::HasSubstr;

// Plain: tick 1 holds x w a b, 25 bytes.
constexpr std::string_view kBatch = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation codec=half:5:2:4
storage b 8 activation
storage y 2 activation
storage gw 1 gradient end
storage d 2 activation end
op f forward device=4 host=1 workspace=3 flops=9 option=lean:6:5 : x w -> a
op g forward random : a -> b
op h forward : b w -> y gw
op i other : y x -> d
)";

SplitRequest request_of(const std::vector<std::int32_t>& batched, std::int32_t parts = 2) {
  SplitRequest request{OpId{0}, OpId{2}, parts, {}};
  for (const std::int32_t index : batched) request.batched.push_back(StorageId{index});
  return request;
}

const std::vector<std::int32_t> kBatched{0, 2, 3, 4};

TEST(Split, RunsPartAfterPartOnSlices) {
  const Transformed result = split(problem_of(kBatch), request_of(kBatched));
  EXPECT_EQ(trace::print_text(*result.problem.trace), R"(lowtide-trace 1
name test
storage x 8 input start
storage w 1 parameter start end
storage a/0 4 activation codec=half:3:1:2
storage a/1 4 activation codec=half:3:1:2
storage b/0 4 activation
storage b/1 4 activation
storage y 2 activation
storage gw 1 gradient end
storage d 2 activation end
op f/0 forward device=2 host=1 workspace=2 flops=5 accessed=9 option=lean:3:3 : x w -> a/0
op g/0 forward accessed=8 random : a/0 -> b/0
op h/0 forward accessed=6 : b/0 w -> y gw
op f/1 forward device=2 host=1 workspace=2 flops=5 accessed=9 option=lean:3:3 : x w -> a/1
op g/1 forward accessed=8 random : a/1 -> b/1
op h/1 forward accessed=6 : b/1 w y gw -> y gw
op i other : y x -> d
)");
}

TEST(Split, LowersThePeakAndKeepsWhatOutlivesTheStep) {
  const Problem problem = problem_of(kBatch);
  const Transformed result = split(problem, request_of(kBatched));
  EXPECT_EQ(memory_bounds(*problem.trace, problem.machine).plain_peak_bytes, 25);
  const Verdict verdict = verdict_of(result.problem, "");
  EXPECT_EQ(violations_of(verdict), "");
  EXPECT_EQ(verdict.peak_bytes, 20);  // g/1: x w a/1 b/1 y gw
  EXPECT_EQ(result.problem.trace->op(verdict.peak_op).name, "g/1");
  for (const char* name : {"w", "gw", "d"}) {
    bool kept = false;
    for (const Storage& storage : result.problem.trace->storages()) {
      kept = kept || (storage.name == name && storage.at_end);
    }
    EXPECT_TRUE(kept) << name;
  }
}

TEST(Split, MapsEveryOpAndStorageBack) {
  const Problem problem = problem_of(kBatch);
  const Transformed result = split(problem, request_of(kBatched, 3));
  const Trace& trace = *result.problem.trace;
  ASSERT_EQ(result.op_from.size(), trace.ops().size());
  ASSERT_EQ(result.storage_from.size(), trace.storages().size());
  EXPECT_EQ(trace.ops().size(), 10U);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    EXPECT_TRUE(trace.ops()[i].name.starts_with(problem.trace->op(result.op_from[i]).name));
  }
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const Storage& old = problem.trace->storage(result.storage_from[i]);
    EXPECT_TRUE(trace.storages()[i].name.starts_with(old.name));
  }
}

TEST(Split, StorageReleasedAfterTheRangeStaysWhole) {
  std::string lines(kBatch);
  lines.replace(lines.find("y x -> d"), 8, "y x -> d free b");
  const Transformed result = split(problem_of(lines), request_of(kBatched));
  EXPECT_THAT(trace::print_text(*result.problem.trace), HasSubstr("storage b 8 activation\n"));
  EXPECT_THAT(trace::print_text(*result.problem.trace), HasSubstr("y x -> d free b\n"));
}

TEST(Split, SideEffectsStaySideEffects) {
  const Problem problem = problem_of(R"(
storage x 4 input start
storage s 1 state start end
storage y 4 activation end
op f forward : x ~s -> y ~s
)");
  const Transformed result =
      split(problem, SplitRequest{OpId{0}, OpId{0}, 2, {StorageId{0}, StorageId{2}}});
  EXPECT_THAT(trace::print_text(*result.problem.trace),
              HasSubstr("op f/0 forward accessed=5 : x ~s -> y ~s\n"
                        "op f/1 forward accessed=5 : x y ~s -> y ~s\n"));
}

TEST(Split, RefusesWhatCannotBeSplit) {
  const Problem problem = problem_of(kBatch);
  EXPECT_THAT(refusal_of([&] { split(problem, request_of({4})); }),
              HasSubstr("f (op 0) uses nothing that has a batch"));
  EXPECT_THAT(refusal_of([&] {
                split(problem, request_of({0, 2, 4}));
              }),
              HasSubstr("h (op 2) reads b.0, which is complete only after the last part"));
  EXPECT_THAT(refusal_of([&] { split(problem, request_of(kBatched, 1)); }),
              HasSubstr("at least two parts"));
  EXPECT_THAT(refusal_of([&] { split(problem, request_of({99})); }), HasSubstr("no storage 99"));
  SplitRequest beyond = request_of(kBatched);
  beyond.last = OpId{4};
  EXPECT_THAT(refusal_of([&] { split(problem, beyond); }), HasSubstr("no range of ops"));
}

TEST(Split, SumsOverSeveralOpsOfTheRangeAreAllowed) {
  const Problem problem = problem_of(R"(
storage x 4 input start
storage g 1 gradient end
op f forward : x -> g
op h forward : x g -> g
)");
  const Transformed result = split(problem, SplitRequest{OpId{0}, OpId{1}, 2, {StorageId{0}}});
  EXPECT_THAT(trace::print_text(*result.problem.trace), HasSubstr(": x -> g\n"));
  EXPECT_THAT(trace::print_text(*result.problem.trace), HasSubstr(": x g -> g\n"));
  EXPECT_EQ(result.problem.trace->versions(StorageId{1}).size(), 4U);
}

TEST(Rewrite, FindsStoragesByNameAndKeepsTheMap) {
  const Problem problem = problem_of(kChain, 77);
  const Problem other = problem_of(R"(
storage w 1 parameter start end
storage a1 5 activation
storage d 1 activation end
op f1 forward : w -> a1
op i backward : a1 -> d
)");
  const Transformed result = rewrite(problem, other.trace, {OpId{0}, OpId{}});
  EXPECT_EQ(result.storage_from, (std::vector<StorageId>{StorageId{0}, StorageId{}, StorageId{4}}));
  EXPECT_EQ(result.op_from, (std::vector<OpId>{OpId{0}, OpId{}}));
  EXPECT_EQ(result.problem.budget_bytes, 77);
  EXPECT_EQ(result.problem.trace->ops().size(), 2U);
}

TEST(Rewrite, RefusesAMapThatDoesNotFit) {
  const Problem problem = problem_of(kChain);
  const std::shared_ptr<const Trace> same = problem.trace;
  EXPECT_EQ(refusal_of([&] { rewrite(problem, same, {OpId{0}}); }),
            "the map names 1 of 4 ops of the rewritten trace");
  EXPECT_EQ(refusal_of([&] {
              rewrite(problem, same, {OpId{0}, OpId{1}, OpId{2}, OpId{4}});
            }),
            "the map says that i (op 3) comes from op 4, which the trace does not have");
}

}  // namespace
}  // namespace lowtide::plan
