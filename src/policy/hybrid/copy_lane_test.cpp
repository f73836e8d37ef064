// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/copy_lane.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"

namespace lowtide::policy {
namespace {

// Busy from 2 to 4 and from 6 to 7.
CopyLane busy_lane() {
  CopyLane lane;
  lane.take({6, 7});
  lane.take({2, 3});
  lane.take({3, 4});
  return lane;
}

struct LaneCase {
  double bound;
  double length;
  double start;
};

TEST(CopyLane, EarliestSlotIsTheFirstGapThatIsLongEnough) {
  const LaneCase cases[] = {{0, 2, 0}, {1, 1, 1}, {1, 2, 4}, {3, 1, 4}, {4, 2, 4},
                            {0, 3, 7}, {5, 2, 7}, {9, 5, 9}, {3, 0, 4}};
  for (const LaneCase& c : cases) {
    const CopyLane::Slot slot = busy_lane().earliest(c.bound, c.length);
    EXPECT_EQ(slot.start, c.start) << c.length << " from " << c.bound;
    EXPECT_EQ(slot.end, c.start + c.length);
  }
}

TEST(CopyLane, LatestSlotIsTheLastGapThatIsLongEnough) {
  const LaneCase cases[] = {{10, 2, 8}, {7, 1, 5}, {6, 2, 4}, {9, 3, -1}, {10, 3, 7},
                            {4, 2, 0},  {2, 2, 0}, {3, 1, 1}, {1, 4, -3}};
  for (const LaneCase& c : cases) {
    const CopyLane::Slot slot = busy_lane().latest(c.bound, c.length);
    EXPECT_EQ(slot.start, c.start) << c.length << " by " << c.bound;
    EXPECT_EQ(slot.end, c.start + c.length);
  }
}

constexpr int kSeconds = 60;

RC_GTEST_PROP(CopyLane, FindsWhatASearchOverWholeSecondsFinds, ()) {
  std::vector<bool> busy(kSeconds, false);
  CopyLane lane;
  // What lies before and after is free.
  const auto is_free = [&busy](int start, int length) {
    for (int second = std::max(start, 0); second < std::min(start + length, kSeconds); ++second) {
      if (busy[static_cast<std::size_t>(second)]) return false;
    }
    return true;
  };
  for (int step = 0; step < 30; ++step) {
    const int bound = *rc::gen::inRange(0, kSeconds);
    const int length = *rc::gen::inRange(1, 6);
    int start = bound;
    while (!is_free(start, length)) ++start;
    const CopyLane::Slot early = lane.earliest(bound, length);
    RC_ASSERT(early.start == start);
    RC_ASSERT(early.end == start + length);
    start = bound - length;
    while (!is_free(start, length)) --start;
    const CopyLane::Slot late = lane.latest(bound, length);
    RC_ASSERT(late.start == start);
    RC_ASSERT(late.end == start + length);

    const CopyLane::Slot taken = *rc::gen::arbitrary<bool>() ? early : late;
    if (taken.start < 0 || taken.end > kSeconds) continue;
    lane.take(taken);
    std::fill(busy.begin() + static_cast<int>(taken.start),
              busy.begin() + static_cast<int>(taken.end), true);
  }
}

// The same as a lane, but for its speed: looks at each stretch.
class SlowLane {
 public:
  CopyLane::Slot earliest(double from, double length) const {
    double start = from;
    for (const CopyLane::Slot& busy : busy_) {
      if (busy.end > start && busy.start < start + length) start = busy.end;
    }
    return {start, start + length};
  }
  std::optional<CopyLane::Slot> latest_nearby(double by, double length, std::size_t most) const {
    double end = by;
    for (auto busy = busy_.rbegin(); busy != busy_.rend(); ++busy) {
      if (busy->start >= by) continue;
      if (busy->end <= end - length) break;
      if (most-- == 0) return std::nullopt;
      end = busy->start;
    }
    return CopyLane::Slot{end - length, end};
  }
  void take(CopyLane::Slot slot) {
    const auto next = std::find_if(busy_.begin(), busy_.end(), [&](const CopyLane::Slot& busy) {
      return busy.start >= slot.start;
    });
    busy_.insert(next, slot);
    std::vector<CopyLane::Slot> joined;
    for (const CopyLane::Slot& busy : busy_) {
      if (!joined.empty() && joined.back().end >= busy.start) {
        joined.back().end = busy.end;
      } else {
        joined.push_back(busy);
      }
    }
    busy_ = joined;
  }
  std::size_t stretches() const { return busy_.size(); }

 private:
  std::vector<CopyLane::Slot> busy_;
};

TEST(CopyLane, WithManyStretchesFindsWhatLookingAtEachFinds) {
  base::Random random(7);
  CopyLane lane;
  SlowLane slow;
  for (int i = 0; i < 4000; ++i) {
    const double bound = static_cast<double>(random.below(4000));
    const double length = 0.25 * static_cast<double>(1 + random.below(i % 100 == 0 ? 200 : 6));
    const CopyLane::Slot early = lane.earliest(bound, length);
    ASSERT_EQ(early.start, slow.earliest(bound, length).start) << i;
    const CopyLane::Slot late = lane.latest(bound, length);
    ASSERT_EQ(late.end, slow.latest_nearby(bound, length, 1'000'000)->end) << i;
    for (const std::size_t most : {std::size_t{2}, std::size_t{150}}) {
      const auto nearby = lane.latest_nearby(bound, length, most);
      const auto expected = slow.latest_nearby(bound, length, most);
      ASSERT_EQ(nearby.has_value(), expected.has_value()) << i;
      if (nearby) {
        ASSERT_EQ(nearby->end, expected->end) << i;
      }
    }
    const CopyLane::Slot taken = i % 3 == 0 ? late : early;
    lane.take(taken);
    slow.take(taken);
  }
  // Many blocks of them, or this shows nothing.
  EXPECT_GT(slow.stretches(), 500U);
}

TEST(CopyLane, ASearchNearbyGivesUpAfterSoManyStretches) {
  CopyLane lane;
  lane.take({10, 12});
  lane.take({13, 15});
  EXPECT_EQ(lane.latest_nearby(15, 2, 1), std::nullopt);
  const auto slot = lane.latest_nearby(15, 2, 2);
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->end, 10);
  EXPECT_EQ(lane.latest_nearby(20, 5, 0)->start, 15);
}

}  // namespace
}  // namespace lowtide::policy
