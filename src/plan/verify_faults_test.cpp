// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;

// A plan with one fault, and a plan nearby without it.
struct FaultCase {
  const char* name;
  std::string_view trace;
  const char* bad;
  Kind kind;
  // The message of the first violation.
  const char* message;
  const char* good;
};

std::ostream& operator<<(std::ostream& out, const FaultCase& row) { return out << row.name; }

constexpr std::string_view kOnce = R"(
storage w 1 parameter start end
storage a 10 activation
storage d 1 activation end
op f forward once : w -> a
op g forward : w -> d
op i backward : a d -> d
)";

class Fault : public testing::TestWithParam<FaultCase> {};

TEST_P(Fault, IsNamedAndTheNearbyPlanPasses) {
  const FaultCase& row = GetParam();
  const Problem problem = problem_of(row.trace);
  const Verdict bad = verdict_of(problem, row.bad);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(to_string(bad.violations[0].kind), to_string(row.kind));
  EXPECT_EQ(bad.violations[0].message, row.message);
  EXPECT_EQ(violations_of(verdict_of(problem, row.good)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Reads, Fault,
    testing::Values(
        FaultCase{"dropped", kChain, "drop a.0 after 1", Kind::kNotResident,
                  "op i (op 3) reads a.0, which was dropped after g (op 1)",
                  "drop a.0 after 1\nrun 0 before 3"},
        FaultCase{"dropped_in_prelude", kChain, "drop a.0 before 3", Kind::kNotResident,
                  "op i (op 3) reads a.0, which was dropped before i (op 3)",
                  "drop a.0 before 2\nrun 0 before 3"},
        FaultCase{"moved", kChain, "move a.0 host after 1", Kind::kNotResident,
                  "op i (op 3) reads a.0, which lies in tier host",
                  "move a.0 host after 1\nfetch a.0 issue 2 need 3"},
        FaultCase{"fetched_too_late", kChain, "move a.0 disk after 1\nfetch a.0 issue 2 need end",
                  Kind::kNotResident,
                  "op i (op 3) reads a.0, which is still on its way from tier disk",
                  "move a.0 disk after 1\nfetch a.0 issue 2 need 3"},
        FaultCase{"encoded", kChain, "encode a.0 half after 1", Kind::kEncoded,
                  "op i (op 3) reads a.0, which is on the device in encoded form only",
                  "encode a.0 half after 1\ndecode a.0 before 3"},
        FaultCase{
            "replay_without_its_input", kChain,
            "drop b.0 after 1\ndrop a.0 after 1\n"
            "run 1 before 2\nrun 0 before 3",
            Kind::kNotResident,
            "the replay of g (op 1) before h (op 2) reads a.0, which was dropped after g (op 1)",
            "drop b.0 after 1\ndrop a.0 after 1\nrun 0 before 2\nrun 1 before 2"},
        FaultCase{
            "replay_reads_overwritten_source", kOverwrite, "drop a.0 after 0\nrun 0 before 2",
            Kind::kStaleSource,
            "the replay of f (op 0) before i (op 2) reads x.0, which was released after u (op 1)",
            "drop a.0 after 0\nrun 0 before 1"},
        FaultCase{
            "replay_of_a_source_that_was_not_held_long_enough", kOverwrite,
            "hold x.0 until 1\ndrop a.0 after 0\nrun 0 before 2", Kind::kStaleSource,
            "the replay of f (op 0) before i (op 2) reads x.0, which was released after u (op 1)",
            "hold x.0 from 1 until 2\ndrop a.0 after 0\nrun 0 before 2"},
        FaultCase{
            "unwanted_result_of_a_replay", kChain,
            "hold a.0 until end\nrun 1 before 3\n"
            "hold b.0 until 2\nrun 2 before end",
            Kind::kNotResident,
            "the replay of h (op 2) before end of step reads b.0, which was not kept by the "
            "replay before i (op 3)",
            "hold a.0 until end\nhold b.0 until 2\nhold b.0 from 3 until end\nrun 1 before 3\n"
            "run 2 before end\nhold c.0 from end until end"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Actions, Fault,
    testing::Values(
        FaultCase{"replay_of_what_may_run_once", kOnce, "drop a.0 after 0\nrun 0 before 2",
                  Kind::kNotReplayable,
                  "the replay of f (op 0) before i (op 2): the op may run once only",
                  "move a.0 host after 0\nfetch a.0 issue 2 need 2"},
        FaultCase{
            "replay_of_what_is_there", kChain, "run 0 before 3", Kind::kAlreadyPresent,
            "the replay of f (op 0) before i (op 3): all its results are there, a.0 is on the "
            "device",
            "drop a.0 after 1\nrun 0 before 3"},
        FaultCase{"replay_of_what_lies_in_a_tier", kChain,
                  "move a.0 host after 1\nrun 0 before 2\nfetch a.0 issue 3 need 3",
                  Kind::kAlreadyPresent,
                  "the replay of f (op 0) before h (op 2): all its results are there, a.0 lies in "
                  "tier host",
                  "move a.0 host after 1\nfetch a.0 issue 3 need 3"},
        FaultCase{"replay_before_the_op_ran", kChain, "run 2 before 2", Kind::kBadPosition,
                  "the replay of h (op 2) before h (op 2): the op has not run yet",
                  "drop c.0 after 2\nhold b.0 until 3\nrun 2 before 3"},
        FaultCase{"fetch_of_what_is_there", kChain, "fetch a.0 issue 2 need 3",
                  Kind::kAlreadyPresent, "fetch of a.0 before h (op 2): the value is on the device",
                  "move a.0 host after 1\nfetch a.0 issue 2 need 3"},
        FaultCase{"second_fetch", kChain,
                  "move a.0 host after 1\nfetch a.0 issue 2 need 3\nfetch a.0 issue 3 need 3",
                  Kind::kAlreadyPresent,
                  "fetch of a.0 before i (op 3): the value is still on its way from tier host",
                  "move a.0 host after 1\nfetch a.0 issue 2 need 3"},
        FaultCase{"fetch_of_what_was_dropped", kChain, "drop a.0 after 1\nfetch a.0 issue 3 need 3",
                  Kind::kNotInTier,
                  "fetch of a.0 before i (op 3): the value was dropped after g (op 1)",
                  "move a.0 host after 1\nfetch a.0 issue 3 need 3"},
        FaultCase{"fetch_needed_before_its_issue", kChain,
                  "move a.0 host after 0\nfetch a.0 issue 2 need 1", Kind::kNotResident,
                  "op g (op 1) reads a.0, which lies in tier host",
                  "move a.0 host after 0\nfetch a.0 issue 1 need 1"},
        FaultCase{"drop_of_what_died", kChain, "drop b.0 after 2", Kind::kNotPresent,
                  "drop of b.0 after h (op 2): the value was released after h (op 2)",
                  "hold b.0 until 3\ndrop b.0 after 2"},
        FaultCase{"drop_of_what_is_not_made", kChain, "drop c.0 before 2", Kind::kNotPresent,
                  "drop of c.0 before h (op 2): the value has not been made yet",
                  "drop c.0 after 2\nhold b.0 until 3\nrun 2 before 3"},
        FaultCase{"move_of_what_is_encoded", kChain,
                  "encode a.0 half after 1\nmove a.0 host after 2\ndecode a.0 before 3",
                  Kind::kNotPresent,
                  "move of a.0 after h (op 2): the value is on the device in encoded form only",
                  "encode a.0 half after 1\ndrop a.0 after 2\nrun 0 before 3"},
        FaultCase{"encode_of_what_moved", kChain,
                  "move a.0 host after 1\nencode a.0 half after 1\nfetch a.0 issue 3 need 3",
                  Kind::kNotPresent, "encode of a.0 after g (op 1): the value lies in tier host",
                  "encode a.0 half after 1\ndecode a.0 before 3"},
        FaultCase{"decode_of_what_is_raw", kChain, "decode a.0 before 3", Kind::kNotPresent,
                  "decode of a.0 before i (op 3): the value is on the device",
                  "encode a.0 half after 1\ndecode a.0 before 3"},
        FaultCase{"hold_that_ends_before_it_begins", kChain, "hold b.0 from 3 until 2",
                  Kind::kBadPosition,
                  "the hold on b.0 begins with i (op 3) and ends earlier, with h (op 2)",
                  "hold b.0 from 3 until 3"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Limits, Fault,
    testing::Values(
        FaultCase{"pinned_drop", kPinned, "drop w.0 after 1", Kind::kPinned,
                  "drop of w.0 after g (op 1): its storage is pinned",
                  "drop d.0 after 0\nrun 0 before 1"},
        FaultCase{"pinned_move", kPinned, "move w.0 host after 1\nfetch w.0 issue 2 need 2",
                  Kind::kPinned, "move of w.0 after g (op 1): its storage is pinned",
                  "move d.1 host after 1\nfetch d.1 issue 2 need 2"},
        FaultCase{"pinned_encode", kPinned, "encode w.0 half after 1\ndecode w.0 before 2",
                  Kind::kPinned, "encode of w.0 after g (op 1): its storage is pinned", ""},
        FaultCase{"pinned_start", kPinned, "starts w host", Kind::kPinned,
                  "storage w is pinned and cannot start in a tier", ""},
        FaultCase{
            "lossy_codec", kChain, "encode a.0 rough after 1\ndecode a.0 before 3", Kind::kLossy,
            "codec rough of a.0 after g (op 1) is lossy, and the problem allows lossless ones "
            "only",
            "encode a.0 half after 1\ndecode a.0 before 3"},
        FaultCase{
            "lossy_codec_of_a_move", kChain,
            "move a.0 host after 1 codec rough\nfetch a.0 issue 3 need 3", Kind::kLossy,
            "codec rough of a.0 after g (op 1) is lossy, and the problem allows lossless ones "
            "only",
            "move a.0 host after 1 codec half\nfetch a.0 issue 3 need 3"},
        FaultCase{
            "inexact_implementation", kOnHost, "choose 1 fast", Kind::kLossy,
            "implementation fast of adam (op 1) is not exact, and the problem allows exact ones "
            "only",
            ""}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Ends, Fault,
    testing::Values(
        FaultCase{"lost", kChain, "drop d.0 after 3", Kind::kLost,
                  "d.0 outlives the step, but was dropped after i (op 3)",
                  "drop d.0 after 3\nhold a.0 until end\nhold c.0 until end\nrun 3 before end"},
        FaultCase{
            "moved_and_left_there", kChain, "move w.0 host after 0", Kind::kNotCyclic,
            "storage w starts on the device, but at the end of the step w.0 lies in tier host",
            "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0"},
        FaultCase{"fetched_and_left_there", kChain, "starts w host\nfetch w.0 issue 0 need 0",
                  Kind::kNotCyclic,
                  "storage w starts in tier host, but at the end of the step w.0 is on the device",
                  "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0"},
        FaultCase{"ends_in_another_tier", kChain,
                  "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 disk after 0",
                  Kind::kNotCyclic,
                  "storage w starts in tier host, but at the end of the step w.0 lies in tier disk",
                  "starts w disk\nfetch w.0 issue 0 need 0\nmove w.0 disk after 0"},
        FaultCase{"made_in_the_step_and_left_in_a_tier", kChain, "drop d.0 after 3", Kind::kLost,
                  "d.0 outlives the step, but was dropped after i (op 3)", "move d.0 host after 3"},
        FaultCase{"starts_before_it_exists", kChain, "starts a host", Kind::kNotPresent,
                  "storage a does not exist when the step begins", ""},
        FaultCase{"starts_in_two_places", kChain,
                  "starts w host\nstarts w disk\nfetch w.0 issue 0 need 0\nmove w.0 host after 0",
                  Kind::kAlreadyPresent, "storage w starts in two places",
                  "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0"}),
    [](const auto& row) { return std::string(row.param.name); });

constexpr const char* kHostStep =
    "starts p host\nstarts g host\nchoose 1 cpu\nfetch g.0 issue 0 need 0\nmove g.0 host after 0\n"
    "fetch p.1 issue 2 need 2\nmove p.1 host after 2";

INSTANTIATE_TEST_SUITE_P(
    Implementations, Fault,
    testing::Values(
        FaultCase{"host_op_with_input_on_the_device", kOnHost,
                  "starts p host\nchoose 1 cpu\nfetch p.1 issue 2 need 2\nmove p.1 host after 2",
                  Kind::kNotInTier,
                  "op adam (op 1) runs on the host and reads g.0, which is on the device",
                  kHostStep},
        FaultCase{"host_op_with_input_in_a_further_tier", kOnHost,
                  "starts p disk\nmove g.0 host after 0\nchoose 1 cpu\nfetch p.1 issue 2 need 2\n"
                  "move p.1 disk after 2",
                  Kind::kNotInTier,
                  "op adam (op 1) runs on the host and reads p.0, which lies in tier disk",
                  kHostStep},
        FaultCase{"host_op_with_encoded_input", kOnHost,
                  "move p.0 host after 0 codec half\nmove g.0 host after 0\nchoose 1 cpu\n"
                  "fetch p.1 issue 2 need 2",
                  Kind::kEncoded,
                  "op adam (op 1) runs on the host and reads p.0, which lies in tier host, encoded",
                  kHostStep},
        FaultCase{"replay_of_a_host_op", kOnHost,
                  "move p.0 host after 0\nmove g.0 host after 0\nchoose 1 cpu\nrun 1 before 2\n"
                  "fetch p.1 issue 2 need 2",
                  Kind::kNotReplayable,
                  "the replay of adam (op 1) before last (op 2): the op runs on the host",
                  kHostStep},
        FaultCase{"two_choices", kOnHost, "choose 1 cpu\nchoose 1 fast", Kind::kBadPosition,
                  "two implementations are chosen for adam (op 1)", kHostStep},
        FaultCase{"device_op_with_input_in_the_host", kReadsHost, "starts w host",
                  Kind::kNotResident, "op f (op 0) reads w.0, which lies in tier host",
                  "starts w host\nchoose 0 zero_copy"},
        FaultCase{"reads_host_but_not_the_disk", kReadsHost, "starts w disk\nchoose 0 zero_copy",
                  Kind::kNotResident, "op f (op 0) reads w.0, which lies in tier disk",
                  "choose 0 zero_copy"},
        FaultCase{"a_replay_reads_host_too", kReadsHost,
                  "starts w host\nchoose 0 zero_copy\nmove a.0 host after 0\nrun 0 before 1",
                  Kind::kAlreadyPresent,
                  "the replay of f (op 0) before g (op 1): all its results are there, a.0 lies in "
                  "tier host",
                  "starts w host\nchoose 0 zero_copy\ndrop a.0 after 0\nrun 0 before 1"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Places, Fault,
    testing::Values(
        FaultCase{"overlap", kChain, "place a.0 offset 0\nplace b.0 offset 9", Kind::kOverlap,
                  "b.0 at offset 9 overlaps a.0 at offset 0 in the tick of g (op 1)",
                  "place a.0 offset 0\nplace b.0 offset 10"},
        FaultCase{"overlap_from_below", kChain, "place a.0 offset 1\nplace b.0 offset 0",
                  Kind::kOverlap,
                  "b.0 at offset 0 overlaps a.0 at offset 1 in the tick of g (op 1)",
                  "place a.0 offset 2\nplace b.0 offset 0"},
        FaultCase{"overlap_in_time_only", kChain, "place b.0 offset 0\nplace c.0 offset 0",
                  Kind::kOverlap,
                  "c.0 at offset 0 overlaps b.0 at offset 0 in the tick of h (op 2)",
                  "place b.0 offset 0\nplace d.0 offset 0"},
        FaultCase{"overlap_with_what_comes_back", kChain,
                  "place a.0 offset 0\nplace c.0 offset 9\nmove a.0 host after 1\n"
                  "fetch a.0 issue 3 need 3",
                  Kind::kOverlap,
                  "a.0 at offset 0 overlaps c.0 at offset 9 in the tick of i (op 3)",
                  "place a.0 offset 0\nplace b.0 offset 10\nplace c.0 offset 12\n"
                  "move a.0 host after 1\nfetch a.0 issue 3 need 3"},
        // In whichever order the op lists its results: x is there until its new version is.
        FaultCase{"overlap_with_what_is_overwritten",
                  "storage x 4 state start end\nstorage a 4 activation end\n"
                  "op f forward : x -> x a\n",
                  "place x.0 offset 0\nplace a.0 offset 2", Kind::kOverlap,
                  "a.0 at offset 2 overlaps x.0 at offset 0 in the tick of f (op 0)",
                  "place x.0 offset 0\nplace a.0 offset 4"},
        FaultCase{"placed_twice", kChain, "place a.0 offset 0\nplace a.0 pool 1",
                  Kind::kBadPosition, "a.0 is placed twice", "place a.0 pool 1\nplace b.0 pool 1"},
        FaultCase{"beyond_the_budget", kChain, "place a.0 offset 991", Kind::kOverBudget,
                  "a.0 is placed at offset 991 with 10 bytes, which ends beyond the budget of 1000",
                  "place a.0 offset 990"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace lowtide::plan
