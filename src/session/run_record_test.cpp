// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/run_record.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "report/run_record.h"

namespace lowtide::session {
namespace {

TEST(RunRecord, NamesAMachineInOneWord) {
  EXPECT_EQ(machine_name("cpu"), "cpu");
  EXPECT_EQ(machine_name("NVIDIA H200 (cuda:0)"), "NVIDIA_H200_(cuda_0)");
  EXPECT_EQ(machine_name(""), "recorded");
}

TEST(RunRecord, NeedsAStepThatWasCaptured) {
  Session session({.device = "cpu"});
  session.step([] { at::ones({8}).add(1); });
  try {
    session.run_record("nothing");
    FAIL() << "there is nothing to write down";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("call capture_next_step()"), std::string::npos);
  }
}

TEST(RunRecord, IsReadByTheReport) {
  const std::string title = "any title: \"even\" this | one";
  Session session({.budget = "1GiB", .device = "cpu"});
  session.capture_next_step();
  session.step([] { at::ones({1000}).add(1).mul(2); });
  const report::RunRecord record = report::parse_run_record(session.run_record(title));
  EXPECT_EQ(record.title, title);
  EXPECT_EQ(record.device, "cpu");
  EXPECT_EQ(record.policy, "online");
  EXPECT_EQ(record.budget_bytes, std::int64_t{1} << 30);
  EXPECT_FALSE(record.plan);
  EXPECT_GE(record.trace->ops().size(), 2U);
  EXPECT_EQ(record.statistics.at("steps"), 1);
  EXPECT_EQ(record.machine.tiers.at(0).name, "host");
}

}  // namespace
}  // namespace lowtide::session
