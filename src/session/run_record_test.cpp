// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/run_record.h"

#include <algorithm>
#include <vector>

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

// Of the storages of a step in which room is scarce: how often the rule did what.
std::int64_t count_of(const report::RunRecord& record, plan::OnlineDeed::Kind kind) {
  return std::count_if(record.online->begin(), record.online->end(),
                       [&](const plan::OnlineDeed& deed) { return deed.kind == kind; });
}

TEST(RunRecord, OfARunWithoutAPlanHasWhatTheOnlineRuleDid) {
  using Kind = plan::OnlineDeed::Kind;
  for (const Means means : {Means::kMixed, Means::kRecompute, Means::kHost}) {
    SCOPED_TRACE(static_cast<int>(means));
    const at::Tensor input = at::ones({1 << 18});
    Session session({.budget = "6MiB", .device = "cpu", .means = means, .step_aside = false});
    const auto step = [&] {
      std::vector<at::Tensor> kept;
      for (int i = 0; i < 8; ++i) kept.push_back(input.add(i));
      for (const at::Tensor& tensor : kept) EXPECT_EQ(tensor.mul(2).numel(), 1 << 18);
    };
    session.step(step);
    const SessionStats before = session.stats();
    session.capture_next_step();
    session.step(step);
    const SessionStats after = session.stats();
    const report::RunRecord record = report::parse_run_record(session.run_record("a_run"));
    ASSERT_TRUE(record.online);
    EXPECT_GT(after.evictions, before.evictions);
    EXPECT_EQ(count_of(record, Kind::kDrop), after.drops - before.drops);
    EXPECT_EQ(count_of(record, Kind::kMove), after.moves - before.moves);
    EXPECT_EQ(count_of(record, Kind::kReplay), after.recomputes - before.recomputes);
    for (const plan::OnlineDeed& deed : *record.online) {
      EXPECT_TRUE(deed.kind != Kind::kMove || deed.price.move_seconds);
      EXPECT_TRUE(deed.kind != Kind::kDrop || deed.price.drop_seconds);
      EXPECT_GE(record.trace->storage(deed.storage).bytes, 1 << 20) << "the large ones";
    }
    // Of what is not written down nothing is kept.
    session.step(step);
    EXPECT_EQ(report::parse_run_record(session.run_record("a_run")).online, record.online);
  }
}

TEST(RunRecord, KnowsWhatLayOutsideUntilItWasReleased) {
  Session session({.budget = "6MiB", .device = "cpu", .means = Means::kHost, .step_aside = false});
  // As gradients that the next forward pass does not use.
  std::vector<at::Tensor> left;
  for (int i = 0; i < 8; ++i) left.push_back(at::full({1 << 18}, i));
  session.end_step();
  session.capture_next_step();
  session.step([&] {
    for (int i = 0; i < 3; ++i) at::full({1 << 18}, i).add(1);
    left.clear();
    at::ones({1 << 18}).add(1);
  });
  const report::RunRecord record = report::parse_run_record(session.run_record("a_run"));
  std::vector<bool> is_away(record.trace->storages().size());
  for (const plan::OnlineDeed& deed : *record.online) {
    is_away[deed.storage.slot()] = deed.kind != plan::OnlineDeed::Kind::kFetch;
  }
  std::int64_t released = 0, away = 0;
  for (std::size_t i = 0; i < is_away.size(); ++i) {
    if (!record.trace->storages()[i].at_start) continue;
    ++released;
    away += is_away[i] ? 1 : 0;
  }
  EXPECT_EQ(released, 8);
  EXPECT_GE(away, 4) << "six of them is all that fits, beside two of the step";
}

}  // namespace
}  // namespace lowtide::session
