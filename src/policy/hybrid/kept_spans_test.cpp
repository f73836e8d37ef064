// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/kept_spans.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/hybrid/spans_plan.h"
#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Made one from the other on the way down, read once more on the way back.
constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage g 1 activation end
op fa forward device=7 : w -> a
op fb forward device=2 : a -> b
op fc forward device=3 : b -> c
op gc backward : c -> g
op gb backward : b g -> g
op ga backward : a g -> g
)";

struct Spans {
  explicit Spans(std::string_view text, std::vector<AwayValue> away = {})
      : test(text, 30), step(test.problem), spans(step, 0, away) {}

  // The plan, after a look at whether its bytes are those that the spans count.
  std::string actions() {
    Plan plan = test.plan("");
    plan.actions = actions_of(step, spans);
    EXPECT_EQ(verify(test.problem, plan).peak_bytes, spans.bytes().max());
    return test.actions(plan);
  }

  sim::TestStep test;
  TideStep step;
  KeptSpans spans;
};

TEST(KeptSpans, ThePlainStepIsPlain) {
  Spans plain(kChain);
  EXPECT_EQ(plain.spans.bytes().max(), 32);
  EXPECT_EQ(plain.spans.replay_seconds(), 0);
  EXPECT_EQ(plain.actions(), "");
}

TEST(KeptSpans, WhatIsLetGoOfIsReplayedWithItsDroppedAncestors) {
  Spans chain(kChain);
  const ValueId a = chain.test.value("a.0");
  const ValueId b = chain.test.value("b.0");
  EXPECT_EQ(chain.spans.price(b, 4, 100), 2);
  chain.spans.let_go(a, 1, 5);
  chain.spans.settle();
  EXPECT_EQ(chain.spans.replay_seconds(), 7);
  EXPECT_EQ(chain.spans.price(b, 4, 100), 9) << "a has to be made for b as well";
  EXPECT_TRUE(std::isinf(chain.spans.price(b, 4, 8)));
  chain.spans.let_go(b, 2, 4);
  chain.spans.settle();
  EXPECT_EQ(chain.spans.replay_seconds(), 7 + 9);
  EXPECT_EQ(chain.spans.replays(4), (std::vector<Tick>{0, 1}));
  EXPECT_EQ(chain.actions(),
            "drop a.0 after 1\ndrop b.0 after 2\nrun 0 before 4\nrun 1 before 4\n"
            "drop a.0 before 4\nrun 0 before 5\n");
}

TEST(KeptSpans, WhatOneReplayMakesCanBeKeptForTheNext) {
  Spans chain(kChain);
  const ValueId a = chain.test.value("a.0");
  chain.spans.let_go(a, 1, 5);
  chain.spans.let_go(chain.test.value("b.0"), 2, 4);
  chain.spans.settle();
  EXPECT_EQ(chain.spans.last_there(a, 5), 4);
  chain.spans.keep(a, 4, 5);
  chain.spans.settle();
  EXPECT_EQ(chain.spans.replay_seconds(), 9);
  EXPECT_EQ(chain.actions(),
            "drop a.0 after 1\ndrop b.0 after 2\nrun 0 before 4\nrun 1 before 4\n");
}

// Kept from the replay before tick 4 on, until nothing is replayed there any more.
TEST(KeptSpans, ASpanThatBeginsForNobodyBeginsLater) {
  Spans chain(kChain);
  const ValueId a = chain.test.value("a.0");
  const ValueId b = chain.test.value("b.0");
  chain.spans.let_go(a, 1, 5);
  chain.spans.let_go(b, 2, 4);
  chain.spans.settle();
  chain.spans.keep(a, 4, 5);
  chain.spans.settle();
  chain.spans.keep(b, 2, 4);
  chain.spans.settle();
  EXPECT_EQ(chain.actions(), "drop a.0 after 1\nrun 0 before 5\n");
}

TEST(KeptSpans, ChangesAreUndone) {
  Spans chain(kChain);
  chain.spans.let_go(chain.test.value("a.0"), 1, 5);
  chain.spans.settle();
  const std::string before = chain.actions();
  const std::size_t changes = chain.spans.changes();
  chain.spans.let_go(chain.test.value("b.0"), 2, 4);
  chain.spans.settle();
  chain.spans.keep(chain.test.value("a.0"), 4, 5);
  chain.spans.settle();
  chain.spans.undo_to(changes);
  EXPECT_EQ(chain.actions(), before);
  EXPECT_EQ(chain.spans.replay_seconds(), 7);
  chain.spans.undo_to(0);
  EXPECT_EQ(chain.actions(), "");
}

TEST(KeptSpans, GapsLieBetweenUsesByOpsAndReplays) {
  Spans chain(kChain);
  const ValueId a = chain.test.value("a.0");
  const std::optional<KeptSpans::Gap> gap = chain.spans.gap_around(a, 3);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->from, 1);
  EXPECT_EQ(gap->to, 5);
  EXPECT_TRUE(gap->is_needed);
  EXPECT_FALSE(chain.spans.gap_around(a, 1)) << "it is used there";
  chain.spans.let_go(chain.test.value("b.0"), 2, 4);
  chain.spans.settle();
  EXPECT_EQ(chain.spans.gap_around(a, 3)->to, 4) << "b is made from it";
}

// A chain of forty values, read once more on the way back: ticks in several blocks.
std::string long_chain() {
  std::string storages = "storage w 1 parameter start end\nstorage g 1 activation end\n";
  std::string ops;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "a" + std::to_string(i);
    storages += "storage " + name + " 10 activation\n";
    ops += "op f" + std::to_string(i) +
           " forward device=1 : " + (i == 0 ? "w" : "a" + std::to_string(i - 1)) + " -> " + name +
           "\n";
  }
  ops += "op b39 backward : a39 -> g\n";
  for (int i = 38; i >= 0; --i) {
    ops += "op b" + std::to_string(i) + " backward : a" + std::to_string(i) + " g -> g\n";
  }
  return storages + ops;
}

TEST(KeptSpans, WhateverIsKeptIsListedNearItsTicksAndNothingThatIsKeptNowhere) {
  Spans chain(long_chain());
  base::Random random(1);
  const auto check = [&] {
    std::vector<ValueId> listed;
    for (Tick tick = 0; tick <= chain.step.lifetimes.end(); ++tick) {
      chain.spans.list_kept_near(tick, listed);
      for (std::size_t i = 0; i < chain.step.trace.values().size(); ++i) {
        const auto value = make_id<ValueId>(i);
        const bool is_listed = std::find(listed.begin(), listed.end(), value) != listed.end();
        if (chain.spans.can_change(value) && chain.spans.is_kept_into(value, tick)) {
          ASSERT_TRUE(is_listed) << "value " << i << " tick " << tick;
        }
        if (is_listed) {
          ASSERT_FALSE(chain.spans.spans(value).empty()) << "value " << i;
        }
      }
    }
  };
  check();
  for (int i = 0; i < 100; ++i) {
    const auto tick = static_cast<Tick>(random.below(80));
    const ValueId value = chain.test.value("a" + std::to_string(random.below(40)) + ".0");
    const std::optional<KeptSpans::Gap> gap = chain.spans.gap_around(value, tick);
    if (gap) chain.spans.let_go(value, gap->from, gap->to);
    chain.spans.settle();
    if (random.below(3) == 0) chain.spans.undo_to(random.below(chain.spans.changes() + 1));
    check();
  }
  chain.spans.undo_to(0);
  check();
}

// a is away from tick 2 to tick 5; its bytes are gone in the ticks 3 and 4.
TEST(KeptSpans, WhatIsAwayCannotBeReadAndItsCopiesCanBePutOff) {
  const AwayValue away{ValueId{1}, TierId{0}, 1, 2, 4, 5};
  Spans chain(kChain, {away});
  const ValueId b = chain.test.value("b.0");
  EXPECT_FALSE(chain.spans.can_change(away.value));
  EXPECT_TRUE(std::isinf(chain.spans.price(b, 4, 100)));
  EXPECT_EQ(chain.spans.bytes().max(2, 2), 31);
  EXPECT_EQ(chain.spans.bytes().max(4, 4), 22);
  chain.spans.set_left(0, 1);
  chain.spans.set_issue(0, 5);
  EXPECT_EQ(chain.spans.bytes().max(2, 2), 21);
  EXPECT_EQ(chain.spans.bytes().max(4, 4), 12);
  EXPECT_EQ(chain.actions(), "move a.0 host after 1\nfetch a.0 issue 5 need 5\n");
  chain.spans.undo_to(0);
  EXPECT_EQ(chain.spans.bytes().max(2, 2), 31);
}

}  // namespace
}  // namespace lowtide::policy
