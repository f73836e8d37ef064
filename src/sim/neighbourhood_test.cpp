// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/neighbourhood.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// A step of which values are evicted and returned by name. In all traces below every op takes
// another power of two, so that a sum says which ops are in it.
class Around {
 public:
  Around(std::string_view trace_lines, Neighbourhood kind)
      : step_(trace_lines),
        lifetimes_(*step_.problem.trace),
        costs_(*step_.problem.trace, step_.problem.machine),
        around_(*step_.problem.trace, lifetimes_, costs_, kind) {}

  void evict(std::initializer_list<const char*> names) {
    for (const char* name : names) around_.on_evicted(step_.value(name));
  }
  void give_back(const char* name) { around_.on_returned(step_.value(name)); }
  double of(const char* name) { return around_.seconds_around(step_.value(name)); }

 private:
  TestStep step_;
  trace::Lifetimes lifetimes_;
  cost::CostTable costs_;
  EvictedNeighbourhood around_;
};

constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 1 activation
storage b 1 activation
storage c 1 activation
storage d 1 activation
storage e 1 activation end
op fa forward device=1 : w -> a
op fb forward device=2 : a -> b
op fc forward device=4 : b -> c
op fd forward device=8 : c -> d
op fe forward device=16 : d -> e
)";

// s has two children, which r joins again.
constexpr std::string_view kDiamond = R"(
storage w 1 parameter start end
storage s 1 activation
storage p 1 activation
storage q 1 activation
storage r 1 activation end
op fs forward device=1 : w -> s
op fp forward device=2 : s -> p
op fq forward device=4 : s -> q
op fr forward device=8 : p q -> r
)";

TEST(EvictedNeighbourhood, ExactSumIsThatOfEvictedAncestorsAndDescendants) {
  Around around(kChain, Neighbourhood::kExact);
  around.evict({"a.0", "b.0", "d.0"});
  EXPECT_EQ(around.of("c.0"), 1 + 2 + 8);
  EXPECT_EQ(around.of("e.0"), 8);
  // What is not evicted stops the search: c is between d and the rest.
  around.give_back("b.0");
  EXPECT_EQ(around.of("c.0"), 8);
  EXPECT_EQ(around.of("b.0"), 1);
}

TEST(EvictedNeighbourhood, ExactSumLeavesSiblingsOut) {
  Around around(kDiamond, Neighbourhood::kExact);
  around.evict({"s.0", "p.0"});
  EXPECT_EQ(around.of("q.0"), 1);
  EXPECT_EQ(around.of("r.0"), 1 + 2);
}

TEST(EvictedNeighbourhood, ASharedAncestorCountsOnce) {
  for (const Neighbourhood kind : {Neighbourhood::kExact, Neighbourhood::kClasses}) {
    Around around(kDiamond, kind);
    around.evict({"p.0", "q.0"});
    EXPECT_EQ(around.of("r.0"), 2 + 4);
    // Now both parents of r are of one class.
    around.evict({"s.0"});
    EXPECT_EQ(around.of("r.0"), 1 + 2 + 4);
  }
}

TEST(EvictedNeighbourhood, ClassesTakeSiblingsIn) {
  Around around(kDiamond, Neighbourhood::kClasses);
  around.evict({"s.0", "p.0"});
  EXPECT_EQ(around.of("q.0"), 1 + 2);
}

TEST(EvictedNeighbourhood, ReturnTakesTheCostFromTheClassButDoesNotSplitIt) {
  Around around(kChain, Neighbourhood::kClasses);
  around.evict({"b.0", "c.0", "d.0"});
  EXPECT_EQ(around.of("a.0"), 2 + 4 + 8);
  around.give_back("c.0");
  // d is no neighbour of a any more, but still of the class of b.
  EXPECT_EQ(around.of("a.0"), 2 + 8);
  EXPECT_EQ(around.of("c.0"), 2 + 8);
  // Gone again, it is a member as before.
  around.evict({"c.0"});
  EXPECT_EQ(around.of("a.0"), 2 + 4 + 8);
}

TEST(EvictedNeighbourhood, SideEffectsAreNoNeighbours) {
  constexpr std::string_view kNorm = R"(
storage s 1 state start end
storage a 1 activation
storage b 1 activation end
op set forward device=1 : -> s
op norm forward device=2 : ~s -> a ~s
op next forward device=4 : a -> b
)";
  for (const Neighbourhood kind : {Neighbourhood::kExact, Neighbourhood::kClasses}) {
    Around around(kNorm, kind);
    around.evict({"s.1", "s.2", "b.0"});
    EXPECT_EQ(around.of("a.0"), 4);
  }
}

TEST(EvictedNeighbourhood, WithoutANeighbourhoodNothingCounts) {
  Around around(kChain, Neighbourhood::kNone);
  around.evict({"a.0", "c.0"});
  EXPECT_EQ(around.of("b.0"), 0);
}

}  // namespace
}  // namespace lowtide::sim
