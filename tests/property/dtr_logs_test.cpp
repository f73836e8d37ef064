// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/dtr_logs.h"

#include <chrono>
#include <cstdio>
#include <map>

#include <gtest/gtest.h>

#include "lowtide/machine.h"
#include "plan/bounds.h"
#include "trace/dtr_log.h"
#include "trace/json.h"
#include "trace/summary.h"
#include "trace/text.h"

namespace lowtide {
namespace {

struct Figures {
  std::size_t ops;
  std::size_t storages;
  // Nothing evicted, nothing rounded, constants there from the start.
  std::int64_t peak_bytes;
  // Sum of TIME over all records.
  std::int64_t nanoseconds;
};

// Counted from the logs by a script of its own (count of CALL and MUTATE, of CONSTANT and of
// results without alias; live bytes by reference counts).
const std::map<std::string, Figures>& expected() {
  static const std::map<std::string, Figures> kFigures{
      {"inceptionv4", {1258, 2969, 11245348984, 636429561}},
      {"lstm", {7926, 5248, 5595127736, 769458833}},
      {"resnet32", {286, 680, 10061179152, 291905487}},
      {"transformer", {2821, 1814, 9864405192, 276259118}},
      {"treelstm", {6825, 4746, 170173608, 120490892}},
      {"tv_densenet121", {2072, 2920, 11020749360, 355299140}},
      {"unet", {247, 429, 8415764640, 435278292}},
      {"unroll_gan", {6024, 5224, 258529002, 125451477}},
  };
  return kFigures;
}

TEST(DtrLogs, AllImportWithTheFiguresOfTheLogs) {
  const auto logs = support::dtr_logs();
  if (logs.empty()) GTEST_SKIP() << support::kNoDtrLogs;
  EXPECT_EQ(logs.size(), expected().size());
  std::printf("%-16s %6s %8s %14s %9s %10s\n", "log", "ops", "storages", "peak bytes", "seconds",
              "import s");
  for (const auto& [name, text] : logs) {
    const auto before = std::chrono::steady_clock::now();
    const Trace trace = trace::import_dtr_log(text, name);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - before;
    const trace::Summary found = trace::summary(trace);
    const std::int64_t peak_bytes = plan::memory_bounds(trace, unit_machine()).plain_peak_bytes;
    std::printf("%-16s %6zu %8zu %14lld %9.3f %10.3f\n", name.c_str(), found.ops, found.storages,
                static_cast<long long>(peak_bytes), found.total_seconds, elapsed.count());
    const Figures& figures = expected().at(name);
    EXPECT_EQ(found.ops, figures.ops) << name;
    EXPECT_EQ(found.storages, figures.storages) << name;
    EXPECT_EQ(peak_bytes, figures.peak_bytes) << name;
    EXPECT_NEAR(found.total_seconds, static_cast<double>(figures.nanoseconds) * 1e-9, 1e-9) << name;
    EXPECT_GT(found.ops_in(Phase::kForward), 0U) << name;
    EXPECT_GT(found.ops_in(Phase::kBackward), 0U) << name;
  }
}

TEST(DtrLogs, KeepThroughBothFileForms) {
  const auto logs = support::dtr_logs();
  if (logs.empty()) GTEST_SKIP() << support::kNoDtrLogs;
  for (const auto& [name, log] : logs) {
    const Trace trace = trace::import_dtr_log(log, name);
    const std::string text = trace::print_text(trace);
    EXPECT_EQ(trace::print_text(trace::parse_text(text)), text) << name;
    EXPECT_EQ(trace::print_text(trace::parse_json(trace::print_json(trace))), text) << name;
  }
}

}  // namespace
}  // namespace lowtide
