// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/step_profile.h"

#include <gtest/gtest.h>

#include "plan/bounds.h"
#include "trace/text.h"

namespace lowtide::cli {
namespace {

// The peak is in `back`, where all but `t` exist: 360 bytes with the workspace.
constexpr const char* kStep = R"(lowtide-trace 1
name chain
storage w 100 parameter start end
storage t 90 temporary
storage a 80 activation
storage b 70 activation
storage g 60 gradient
op conv forward LAYER device=2 host=1 : w -> t a free t
op conv forward LAYER device=3 host=1 : a -> b
op back backward LAYER device=1 host=9 workspace=50 : a b -> g
op step optimizer LAYER device=1 host=1 : w g -> w
)";

Trace step(const std::string& layer) {
  std::string text = kStep;
  for (std::size_t at = text.find(" LAYER"); at != std::string::npos; at = text.find(" LAYER")) {
    text.replace(at, 6, layer);
  }
  return trace::parse_text(text);
}

TEST(StepProfile, HoldersAreThePlainPeak) {
  const Trace trace = step("");
  const Machine machine = machine_named("unit");
  const std::vector<Holder> holders = holders_at_peak(trace, machine);
  ASSERT_EQ(holders.size(), 4U);
  // Both activations were made by ops of one name.
  EXPECT_EQ(holders[0].place, "conv");
  EXPECT_EQ(holders[0].kind, StorageKind::kActivation);
  EXPECT_EQ(holders[0].storages, 2U);
  EXPECT_EQ(holders[0].bytes, 150);
  EXPECT_EQ(holders[1].place, "(before the step)");
  EXPECT_EQ(holders[2].kind, StorageKind::kGradient);
  EXPECT_EQ(holders[3].kind, StorageKind::kWorkspace);
  std::int64_t all = 0;
  for (const Holder& holder : holders) all += holder.bytes;
  EXPECT_EQ(all, plan::memory_bounds(trace, machine).plain_peak_bytes);
}

TEST(StepProfile, NamesTheLayerWhereOneIsKnown) {
  const std::vector<Holder> holders = holders_at_peak(step(" layer=one"), machine_named("unit"));
  EXPECT_EQ(holders[0].place, "one");
}

TEST(StepProfile, WhatWasThereBeforeHasALayerIfItsStorageDoes) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname t\nstorage w 9 parameter start end layer=conv\n"
      "storage v 8 state start end\nop f forward : w v ->\n");
  const std::vector<Holder> holders = holders_at_peak(trace, machine_named("unit"));
  EXPECT_EQ(holders[0].place, "conv");
  EXPECT_EQ(holders[1].place, "(before the step)");
}

TEST(StepProfile, SumsUpByKindTheLargestFirst) {
  const std::string text = profile_text(step(" layer=one"), machine_named("unit"), Style{});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "kind        storages  at the peak   share\n"
            "activation         2        150 B  41.7 %\n"
            "parameter          1        100 B  27.8 %\n"
            "gradient           1         60 B  16.7 %\n"
            "workspace          1         50 B  13.9 %");
}

TEST(StepProfile, TimesComeByWhatTakesLonger) {
  const std::vector<OpTime> times = times_by_op(step(""), machine_named("unit"));
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].op, "back");
  EXPECT_EQ(times[0].host_seconds, 9);
  EXPECT_EQ(times[1].op, "conv");
  EXPECT_EQ(times[1].calls, 2U);
  EXPECT_EQ(times[1].device_seconds, 5);
}

}  // namespace
}  // namespace lowtide::cli
