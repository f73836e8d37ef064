// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plan/fixture_test.h"

// The bytes that verify counts for each kind of action, at numbers that a reader can add up.

namespace lowtide::plan {
namespace {

struct PeakCase {
  const char* name;
  std::string_view trace;
  const char* actions;
  std::int64_t peak_bytes;
  std::int32_t peak_op;
  std::int64_t host_peak_bytes;
};

std::ostream& operator<<(std::ostream& out, const PeakCase& row) { return out << row.name; }

class Peak : public testing::TestWithParam<PeakCase> {};

TEST_P(Peak, IsWhatAReaderAddsUp) {
  const PeakCase& row = GetParam();
  const Verdict verdict = verdict_of(problem_of(row.trace), row.actions);
  EXPECT_EQ(violations_of(verdict), "");
  EXPECT_EQ(verdict.peak_bytes, row.peak_bytes);
  EXPECT_EQ(verdict.peak_op, OpId{row.peak_op});
  EXPECT_EQ(verdict.tier_peak_bytes[0], row.host_peak_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    OfChain, Peak,
    testing::Values(
        PeakCase{"nothing", kChain, "", 16, 2, 0},
        // Tick 3: w c, then a again, then d: 1 + 3 + 10 + 1.
        PeakCase{"drop_and_run", kChain, "drop a.0 after 1\nrun 0 before 3", 15, 3, 0},
        PeakCase{"drop_before", kChain, "drop a.0 before 2\nrun 0 before 3", 15, 3, 0},
        // Tick 3 with b: 15 + 2.
        PeakCase{"hold", kChain, "hold b.0 until 3", 17, 3, 0},
        // b dies in tick 2 all the same.
        PeakCase{"hold_that_covers_no_death", kChain, "hold b.0 from 3 until 3", 16, 2, 0},
        PeakCase{"move", kChain, "move a.0 host after 1\nfetch a.0 issue 3 need 3", 15, 3, 10},
        // Tick 2 has a as well, on its way: as plain.
        PeakCase{"early_fetch", kChain, "move a.0 host after 1\nfetch a.0 issue 2 need 3", 16, 2,
                 10},
        // Tick 3: w c, incoming a and its encoded bytes: 1 + 3 + 10 + 4.
        PeakCase{"move_with_codec", kChain,
                 "move a.0 host after 1 codec half\nfetch a.0 issue 3 need 3", 18, 3, 4},
        // Tick 1: w b, a and its encoded form: 1 + 2 + 10 + 4; a is computed anew in tick 3.
        PeakCase{"encode", kChain, "encode a.0 half after 1\ndrop a.0 after 2\nrun 0 before 3", 17,
                 1, 0},
        // Tick 3: w c, both forms of a: 1 + 3 + 4 + 10.
        PeakCase{"decode", kChain, "encode a.0 half after 1\ndecode a.0 before 3", 18, 3, 0},
        // d is made a second time while it is nowhere: w a c, then d.
        PeakCase{"run_before_the_end", kChain,
                 "drop d.0 after 3\nhold a.0 until end\nhold c.0 until end\nrun 3 before end", 16,
                 2, 0}),
    [](const auto& row) { return std::string(row.param.name); });

// f also writes statistics s and a second result m, and works in 5 bytes.
//   tick 0: w s a m workspace   1 + 7 + 10 + 4 + 5 = 27
//   tick 1: w s a m b           24
//   tick 2: w s a b d           21
constexpr std::string_view kSideEffects = R"(
storage w 1 parameter start end
storage s 7 state start end
storage a 10 activation
storage m 4 activation
storage b 2 activation
storage d 1 activation end
op f forward workspace=5 option=lean:3:1 : w ~s -> a m ~s
op g forward : a m -> b
op i backward : a b -> d
)";

// r works in place.
constexpr std::string_view kInPlace = R"(
storage x 3 input start
storage a 10 activation
storage d 1 activation end
op f forward : x -> a
op r forward : a -> a
op g backward : a x -> d
)";

// Two temporaries on the way to c.
//   tick 0: x p 4, tick 1: x p q 6, tick 2: x q c 13, tick 3: x c d 12, tick 4: x c d 12
constexpr std::string_view kSegment = R"(
storage x 1 input start
storage p 3 activation
storage q 2 activation
storage c 10 activation
storage d 1 activation end
op f forward : x -> p
op g forward : p -> q
op h forward : q -> c
op n forward : x -> d
op i backward : c x d -> d
)";

constexpr std::string_view kAdam = R"(
storage p 10 parameter start end
storage g 4 gradient start
op adam optimizer workspace=3 option=cpu:2:100:host option=zero_copy:2:1:host_reads : p g -> p
)";

INSTANTIATE_TEST_SUITE_P(
    OfOps, Peak,
    testing::Values(
        PeakCase{"side_effects", kSideEffects, "", 27, 0, 0},
        PeakCase{"chosen_implementation", kSideEffects, "choose 0 lean", 24, 1, 0},
        // w s b, then a m, scratch for s, workspace: 10 + 14 + 7 + 5.
        PeakCase{"run_with_sibling_scratch_and_workspace", kSideEffects,
                 "drop a.0 after 1\nrun 0 before 2", 36, 2, 0},
        PeakCase{"run_of_the_chosen_implementation", kSideEffects,
                 "choose 0 lean\ndrop a.0 after 1\nrun 0 before 2", 32, 2, 0},
        // a is there and counts a second time: w s a, then a m, scratch, workspace.
        PeakCase{"run_with_a_result_that_is_there", kSideEffects,
                 "drop m.0 after 0\nrun 0 before 1", 44, 1, 0},
        PeakCase{"in_place", kInPlace, "", 14, 2, 0},
        // Tick 1: both versions; tick 2: both and x d.
        PeakCase{"in_place_over_a_held_value", kInPlace, "hold a.0 until 2", 24, 2, 0},
        PeakCase{"in_place_over_a_value_held_no_longer", kInPlace, "hold a.0 until 1", 14, 2, 0},
        // x, a.0 for the second run only, and its private copy.
        PeakCase{"run_in_place", kInPlace, "drop a.1 after 1\nrun 0 before 2\nrun 1 before 2", 23,
                 2, 0},
        PeakCase{"segment", kSegment, "", 13, 2, 0},
        // x d, then p; p q; q c (p gone); c.
        PeakCase{"temporaries_go_after_their_last_run", kSegment,
                 "drop c.0 after 2\nrun 0 before 4\nrun 1 before 4\nrun 2 before 4", 14, 4, 0},
        // p stays: x d p q c.
        PeakCase{"a_hold_keeps_a_temporary", kSegment,
                 "drop c.0 after 2\nhold p.0 from 4 until 4\nrun 0 before 4\nrun 1 before 4\n"
                 "run 2 before 4",
                 17, 4, 0},
        PeakCase{"plain_optimizer", kAdam, "", 17, 0, 0},
        PeakCase{"on_host", kAdam, "starts p host\nstarts g host\nchoose 0 cpu", 0, 0, 14},
        // The result is made on the device: p, workspace. It must go back.
        PeakCase{"reads_host", kAdam,
                 "starts p host\nstarts g host\nchoose 0 zero_copy\nmove p.1 host after 0", 11, 0,
                 14}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PeakRounding, CountsRoundedBytesOnTheDeviceAndPlainOnesInATier) {
  Problem problem = problem_of(kChain);
  problem.machine.allocator.round_bytes = 8;
  // Tick 2: w a b c are 8 + 16 + 8 + 8.
  EXPECT_EQ(verdict_of(problem, "").peak_bytes, 40);
  // Tick 1: w a b and 4 encoded bytes as 8; tick 3: w c a and those.
  const Verdict moved =
      verdict_of(problem, "move a.0 host after 1 codec half\nfetch a.0 issue 3 need 3");
  EXPECT_EQ(moved.peak_bytes, 40);
  EXPECT_EQ(moved.tier_peak_bytes[0], 4);
}

TEST(PeakMove, HoldsItsBytesUntilTheNextTick) {
  const Problem problem = problem_of(R"(
storage a 10 activation end
storage b 2 activation end codec=half:1:0:0
storage c 1 activation end
op f forward : -> a
op g forward : -> b
op h forward workspace=4 : -> c
)");
  const Verdict verdict =
      verdict_of(problem, "move a.0 host after 1\nencode b.0 half after 1\ndecode b.0 before end");
  EXPECT_EQ(violations_of(verdict), "");
  EXPECT_EQ(verdict.peak_bytes, 13);  // a on its way out, both forms of b; tick 2 has 6
  EXPECT_EQ(verdict.peak_op, OpId{1});
}

TEST(PeakDeath, ValueInATierGoesWithItsNaturalLife) {
  const Problem problem = problem_of(kSegment);
  // q dies in tick 2 while p, moved after its last read, died in tick 1: never both.
  const Verdict verdict = verdict_of(problem,
                                     "hold p.0 until 2\nmove p.0 host after 1\nmove q.0 "
                                     "disk after 1\nfetch q.0 issue 2 need 2\n"
                                     "move c.0 host after 2\nfetch c.0 issue 4 need 4");
  EXPECT_EQ(violations_of(verdict), "");
  // p (3) goes in the release of tick 2 before c (10) moves.
  EXPECT_EQ(verdict.tier_peak_bytes[0], 10);
  EXPECT_EQ(verdict.tier_peak_bytes[1], 2);
}

TEST(PeakDeath, IncomingValueGoesWithItsNaturalLife) {
  const Problem problem = problem_of(kSegment);
  // The fetch of p is under way when its hold ends with tick 2; tick 4 would be 2 bytes more.
  const Verdict verdict =
      verdict_of(problem, "hold p.0 until 2\nmove p.0 host after 1\nfetch p.0 issue 2 need end");
  EXPECT_EQ(violations_of(verdict), "");
  EXPECT_EQ(verdict.peak_bytes, 16);  // x q c and the incoming p in tick 2
  EXPECT_EQ(verdict.peak_op, OpId{2});
}

}  // namespace
}  // namespace lowtide::plan
