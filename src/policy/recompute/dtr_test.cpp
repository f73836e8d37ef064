// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// The first big op makes a, s and p go, which are large. The second one needs 10 bytes more, and q,
// r and u, of 10 bytes each and of nearly one age (`wait` sees to that), differ in
//                                   q: child of a   r: child of s, sibling of p   u
//   seconds of their own            1               2                             5
//   and of evicted ancestors        1 + 9           2 + 1                         5
//   and of the classes they touch   1 + 9           2 + 1 + 20                    5
constexpr std::string_view kThree = R"(
storage w 1 parameter start end
storage a 1000 activation
storage s 1000 activation
storage p 1000 activation
storage q 10 activation
storage r 10 activation
storage u 10 activation
storage big 3000 activation
storage bigger 3010 activation
storage d 1 activation end
op fa forward device=9 : w -> a
op fs forward device=1 : w -> s
op fp forward device=20 : s -> p
op fq forward device=1 : a -> q
op fr forward device=2 : s -> r
op fu forward device=5 : w -> u
op wait forward device=1000 : w ->
op big forward : w -> big
op bigger forward : w -> bigger
op g backward : q r u -> d
op h backward : a s -> d
op i backward : p -> d
)";

TEST(Dtr, TheScoreDecidesWhichOfThreeValuesGoes) {
  struct Case {
    const char* score;
    const char* victim;
  };
  const Case cases[] = {{"local", "q.0"}, {"exact", "r.0"}, {"classes", "u.0"}};
  for (const Case& c : cases) {
    for (const char* search : {"all", "indexed"}) {
      const std::string actions =
          actions_of(TestStep(kThree, 3031), "dtr",
                     {{"score", c.score}, {"search", search}, {"ignore_below", "0"}});
      const std::size_t last_drop = actions.find(" before 8");
      ASSERT_GE(last_drop, 3U) << actions;
      EXPECT_EQ(actions.substr(last_drop - 3, 3), c.victim) << c.score << ' ' << search;
    }
  }
}

// a and b differ in one thing only, by which b is the better one to drop.
TEST(Dtr, CheapLargeAndStaleValuesGoFirst) {
  struct Case {
    const char* name;
    const char* sizes;
    const char* ops;
  };
  const Case cases[] = {
      {"b takes less time", "storage a 10 activation\nstorage b 10 activation\n",
       "op fb forward device=1 : w -> b\nop fa forward device=2 : w -> a\n"},
      {"b is larger", "storage a 10 activation\nstorage b 20 activation\n",
       "op fb forward : w -> b\nop fa forward : w -> a\n"},
      {"b is older", "storage a 10 activation\nstorage b 10 activation\n",
       "op fb forward device=2 : w -> b\nop fa forward device=2 : w -> a\n"},
  };
  for (const Case& c : cases) {
    const std::string trace = std::string("storage w 1 parameter start end\n") + c.sizes +
                              "storage t 30 activation\nstorage d 1 activation end\n" + c.ops +
                              "op wait forward device=10 : w ->\nop ft forward : w -> t\n"
                              "op g backward : a b -> d\n";
    const TestStep step(trace, 41);
    EXPECT_EQ(actions_of(step, "dtr", {{"score", "local"}}).substr(0, 18), "drop b.0 before 3\n")
        << c.name;
  }
}

// The paper's theorem: a linear net of N layers of one size, in room for about two square roots of
// N values, takes of the order of N replays with the exact evicted neighbourhood.
TEST(Dtr, OfALinearNetInTwoSquareRootsReplaysNoMoreThanAnotherPass) {
  for (const int root : {4, 8, 12}) {
    const int layers = root * root;
    std::string storages = "storage w 1 parameter start end pinned\n";
    std::string forward;
    std::string backward;
    std::string last = "w";
    for (int i = 1; i <= layers; ++i) {
      const std::string number = std::to_string(i);
      const bool is_top = i == layers;
      const std::string above = is_top ? "" : " g" + std::to_string(i + 1);
      storages += "storage a" + number + " 10 activation\nstorage g" + number + " 10 temporary\n";
      forward += "op f forward : " + last + " -> a" + number + "\n";
      backward = "op b backward : a" + number + above + " -> g" + number + " free a" + number +
                 above + "\n" + backward;
      last = "a" + number;
    }
    const TestStep step(storages + forward + backward, 1 + 10 * (2 * root + 1));
    const Plan plan =
        plan_of(step, "dtr", {{"score", "exact"}, {"search", "all"}, {"ignore_below", "0"}});
    EXPECT_GT(replays_of(plan), 0) << layers;
    EXPECT_LE(replays_of(plan), layers);
  }
}

}  // namespace
}  // namespace lowtide::policy
