// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/memory_snapshot.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <gtest/gtest.h>

#include "report/pickle.h"
#include "report/test_run.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

constexpr std::string_view kMove = "move a.0 host after 1\nfetch a.0 issue 3 need 4\n";

TEST(MemorySnapshot, PlayedBackHasThePeakAndNoTwoBlocksInOnePlace) {
  const RunRecord record = test_record(kIdleStep, kMove, 20);
  const Study result = study(record, 0.5);
  for (const SimulatedStep* step : {&result.plain, &*result.planned}) {
    const json snapshot = memory_snapshot(*step);
    std::map<std::int64_t, std::int64_t> blocks;
    std::int64_t held = 0, most = 0, last_us = 0;
    for (const json& event : snapshot.at("device_traces")[0]) {
      const std::int64_t address = event.at("addr"), size = event.at("size");
      EXPECT_GE(event.at("time_us").get<std::int64_t>(), last_us);
      last_us = event.at("time_us");
      if (event.at("action") == "alloc") {
        const auto next = blocks.lower_bound(address);
        EXPECT_TRUE(next == blocks.end() || address + size <= next->first);
        EXPECT_TRUE(next == blocks.begin() ||
                    std::prev(next)->first + std::prev(next)->second <= address);
        blocks.emplace(address, size);
        held += size;
      } else if (event.at("action") == "free_completed") {
        EXPECT_EQ(blocks.at(address), size);
        blocks.erase(address);
        held -= size;
      }
      most = std::max(most, held);
    }
    EXPECT_EQ(most, step->timeline.peak_bytes);
    const json& segment = snapshot.at("segments")[0];
    EXPECT_EQ(segment.at("active_size"), 3) << "w and d are left";
    EXPECT_EQ(held, 3);
    std::int64_t size = 0;
    for (const json& block : segment.at("blocks")) size += block.at("size").get<std::int64_t>();
    EXPECT_EQ(segment.at("total_size"), size);
  }
}

TEST(MemorySnapshot, FramesNameOpLayerAndStorage) {
  const RunRecord record = test_record();
  const json snapshot = memory_snapshot(simulate_plain(record));
  const json& events = snapshot.at("device_traces")[0];
  const auto found = std::find_if(events.begin(), events.end(), [](const json& event) {
    return event.at("frames")[0].at("name") == "f0 -> a";
  });
  ASSERT_NE(found, events.end());
  EXPECT_EQ(found->at("frames")[0].at("filename"), "first");
  EXPECT_EQ(found->at("category"), "activation");
}

// What Python's pickletools say of it is in tests/cli.
TEST(Pickle, SpellsEveryKindOfValue) {
  EXPECT_EQ(pickled(json::object()), std::string("\x80\x02}."));
  EXPECT_EQ(pickled(json::array()), std::string("\x80\x02]."));
  EXPECT_EQ(pickled(json{{"a", nullptr}}), std::string("\x80\x02}(X\x01\0\0\0aNu.", 13));
  EXPECT_EQ(pickled(json{1, true}), std::string("\x80\x02](J\x01\0\0\0\x88"
                                                "e.",
                                                12));
  EXPECT_EQ(pickled(std::int64_t{1} << 33), std::string("\x80\x02\x8a\x08\0\0\0\0\x02\0\0\0.", 13));
  EXPECT_EQ(pickled(-2), std::string("\x80\x02J\xfe\xff\xff\xff."));
}

}  // namespace
}  // namespace lowtide::report
