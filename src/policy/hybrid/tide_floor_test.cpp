// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_floor.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

const FloorPolicy* row_of(const std::string& name) {
  for (const FloorPolicy& row : floor_policies()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool has_option(const PolicyInfo& info, const std::string& name) {
  return std::any_of(info.options.begin(), info.options.end(),
                     [&](const OptionInfo& option) { return option.name == name; });
}

TEST(TideFloor, HasEveryExecutablePolicyOfTheCatalogue) {
  for (const PolicyInfo& info : catalogue()) {
    if (!info.executable || info.name == "tide") continue;
    const FloorPolicy* row = row_of(info.name);
    ASSERT_NE(row, nullptr) << info.name << " needs a row in tide_floor.cpp";
    const bool swaps = info.mechanisms.find("swap") != std::string::npos;
    EXPECT_TRUE(row->swaps == swaps || row->name == "evict_all") << info.name;
    const bool replays = info.mechanisms.find("recompute") != std::string::npos;
    EXPECT_TRUE(row->replays == replays || row->name == "evict_all")
        << info.name << " (evict_all only moves unless it is told otherwise)";
    EXPECT_EQ(row->can_be_limited, has_option(info, "swap") && has_option(info, "recompute"))
        << info.name;
  }
}

TEST(TideFloor, HoldsWhatIsAllowed) {
  EXPECT_TRUE(make_floor(Floor::kNone, {}, true).empty());
  const std::size_t all = make_floor(Floor::kAll, {}, true).size();
  EXPECT_EQ(all, floor_policies().size());
  EXPECT_LT(make_floor(Floor::kAll, {}, false).size(), all);
  EXPECT_LT(make_floor(Floor::kQuick, {.swap = false}, true).size(), all);
  // Capuchin, which can do without either, and those that do not need what is forbidden.
  EXPECT_EQ(make_floor(Floor::kQuick, {.swap = false, .recompute = false}, false).size(), 2U);
}

TEST(TideFloor, EverybodyIsEitherInItOrALastResortButForCheckmate) {
  const std::size_t everybody = floor_policies().size();
  EXPECT_TRUE(make_last_resorts(Floor::kAll, {}).empty());
  for (const Floor floor : {Floor::kNone, Floor::kQuick}) {
    const std::size_t in_it = make_floor(floor, {}, true).size();
    EXPECT_EQ(in_it + make_last_resorts(floor, {}).size(), everybody - 1);
    // It replays.
    for (const auto& [allowed, left_out] :
         {std::pair(Allowed{.swap = false}, 1U), std::pair(Allowed{.recompute = false}, 0U)}) {
      const std::size_t others = make_floor(Floor::kAll, allowed, true).size() - left_out;
      EXPECT_EQ(make_floor(floor, allowed, true).size() + make_last_resorts(floor, allowed).size(),
                others);
    }
  }
}

}  // namespace
}  // namespace lowtide::policy
