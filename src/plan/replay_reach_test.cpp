// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/replay_reach.h"

#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

ValueId value_named(const Trace& trace, std::string_view name) {
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    if (trace.value_name(make_id<ValueId>(i)) == name) return make_id<ValueId>(i);
  }
  ADD_FAILURE() << "no value " << name;
  return {};
}

// "a.0 until 3 may go;" for every value that some op makes, in order.
std::string reach_of(const Trace& trace, const std::vector<ExtendedLife>& holds = {}) {
  const trace::Lifetimes lifetimes(trace);
  const ReplayReach reach(trace, lifetimes, holds);
  std::string text;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (trace.value(value).is_source()) continue;
    text += trace.value_name(value) + " until " + std::to_string(reach.until(value)) +
            (reach.can_drop(value) ? " may go;" : " stays;");
  }
  return text;
}

struct ReachCase {
  const char* name;
  const char* trace;
  const char* reach;
};

class ReplayReachCase : public testing::TestWithParam<ReachCase> {};

TEST_P(ReplayReachCase, GivesTheLastTickOfEachReplayAndWhatMayGo) {
  const Problem problem = problem_of(GetParam().trace);
  EXPECT_EQ(reach_of(*problem.trace), GetParam().reach);
}

constexpr ReachCase kCases[] = {
    {"ASourceThatStaysCarriesAChainToTheEnd", R"(
storage w 1 parameter start end
storage a 1 activation
storage b 1 activation
storage d 1 activation end
op f forward : w -> a
op g forward : a -> b
op h backward : b -> d
)",
     "a.0 until 3 may go;b.0 until 3 may go;d.0 until 3 may go;"},
    // Before tick 1 runs x.0 is still there; a is read later than that.
    {"AnOverwrittenSourceEndsTheReach", R"(
storage x 1 state start end
storage a 1 activation
storage d 1 activation end
op f forward : x -> a
op u other : x -> x
op i backward : a -> d
)",
     "a.0 until 1 stays;x.1 until 1 stays;d.0 until 2 stays;"},
    {"AReleasedSourceEndsTheReachButEarlierReadersAreServed", R"(
storage x 1 input start
storage a 1 activation
storage b 1 activation
storage d 1 activation end
op f forward : x -> a
op g forward : x -> b
op h forward : a -> d
op i forward : b -> d free x
)",
     "a.0 until 3 may go;b.0 until 3 may go;d.0 until 3 may go;d.1 until 3 stays;"},
    // b depends on c, which nobody can make again; c itself dies with tick 2.
    {"AnOpThatRunsOnceIsABarrierThatLastsAsLongAsItsResult", R"(
storage w 1 parameter start end
storage c 1 activation
storage b 1 activation
storage d 1 activation end
op f forward once : w -> c
op g forward : c -> b
op h forward : c ->
op i forward : b -> d
)",
     "c.0 until -1 stays;b.0 until 2 stays;d.0 until 3 stays;"},
    {"AValueThatMayNotGoServesReplaysWhileItExists", R"(
storage x 1 input start
storage a 1 activation
storage b 1 activation
storage d 1 activation end
op f forward : x -> a
op g forward : a -> b
op h forward : b -> d free x
op i forward : a ->
)",
     // a outlives x and may not go, so b may; d would need it at the end, after it is released.
     "a.0 until 2 stays;b.0 until 3 may go;d.0 until 3 stays;"},
    {"APinnedResultStaysAlthoughItCouldBeComputedAgain", R"(
storage w 1 parameter start end
storage a 1 activation pinned
storage d 1 activation end
op f forward : w -> a
op g forward : a -> d
)",
     // a is released after tick 1, and whoever wants d at the end would need it.
     "a.0 until 2 stays;d.0 until 1 stays;"},
    {"ASideEffectIsNeitherNeededNorYielded", R"(
storage w 1 parameter start end
storage s 1 state start end
storage a 1 activation
storage d 1 activation end
op bn forward : w ~s -> a ~s
op g forward : a -> d
)",
     "a.0 until 2 may go;s.1 until -1 stays;d.0 until 2 may go;"},
    {"AnInPlaceResultReachesAsFarAsWhatItOverwrote", R"(
storage w 1 parameter start end
storage a 1 activation
storage d 1 activation end
op f forward : w -> a
op relu_ forward : a -> a
op g forward : a -> d
)",
     "a.0 until 3 may go;a.1 until 3 may go;d.0 until 3 may go;"},
    {"AnInPlaceResultOfWhatCannotBeMadeAgainStays", R"(
storage w 1 parameter start end
storage a 1 activation
storage d 1 activation end
op f forward once : w -> a
op relu_ forward : a -> a
op g forward : w -> d
op h forward : a -> d
)",
     "a.0 until -1 stays;a.1 until 1 stays;d.0 until 4 may go;d.1 until 3 stays;"},
};

INSTANTIATE_TEST_SUITE_P(ReplayReach, ReplayReachCase, testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ReplayReach, AHeldSourceCarriesReplaysUntilTheHoldEnds) {
  const Problem problem = problem_of(R"(
storage x 1 input start
storage a 1 activation
storage b 1 activation
storage d 1 activation end
op f forward : x -> a free x
op g forward : -> b
op h backward : a -> d
op i backward : b -> d
)");
  const Trace& trace = *problem.trace;
  EXPECT_EQ(reach_of(trace).substr(0, 18), "a.0 until 0 stays;");
  EXPECT_EQ(reach_of(trace, {{value_named(trace, "x.0"), 2}}).substr(0, 19), "a.0 until 2 may go;");
}

}  // namespace
}  // namespace lowtide::plan
