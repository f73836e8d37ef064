// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/peak.h"

#include <gtest/gtest.h>

#include "report/test_run.h"

namespace lowtide::report {
namespace {

// As many blocks, and in each so many layers that keep a byte until the last op.
Peak peak_of_blocks(int blocks, int layers) {
  std::string storages = "storage x 1 input start end\n", ops, kept;
  for (int i = 0; i < blocks * layers; ++i) {
    const std::string name = "a" + std::to_string(i);
    const std::string layer =
        "net." + std::to_string(i / layers) + ".layer" + std::to_string(i % layers);
    storages += "storage " + name + " 1 activation\n";
    ops += "op f" + std::to_string(i) + " forward layer=" + layer + " : x -> " + name + "\n";
    kept += " " + name;
  }
  const RunRecord record =
      test_record(storages + ops + "op last forward layer=head :" + kept + " -> x\n");
  return explain_peak(simulate_plain(record));
}

TEST(Peak, IsToldByLayerWhereAFewOfThemAreMostOfIt) {
  const Peak peak = peak_of_blocks(3, 4);
  EXPECT_EQ(peak.groups.size(), 13U);
  EXPECT_EQ(peak.groups[0].place, "(before the step)");
  EXPECT_EQ(peak.groups[1].place, "net.0.layer0");
}

TEST(Peak, IsToldByBlockWhereThereAreTooManyLayers) {
  const Peak peak = peak_of_blocks(3, 10);
  ASSERT_EQ(peak.groups.size(), 4U);
  EXPECT_EQ(peak.groups[0].place, "net.0");
  EXPECT_EQ(peak.groups[0].items, 10U);
  EXPECT_EQ(peak.groups[0].bytes, 10);
  EXPECT_EQ(peak.items[0].place, "net.0.layer0") << "pieces have their layer all the same";
}

}  // namespace
}  // namespace lowtide::report
