// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/run.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

RunOptions lenet_options() {
  RunOptions options;
  options.training.model = "lenet5";
  options.training.batch = 8;
  options.memory.budget = "90%";
  options.steps = 2;
  return options;
}

// As if Ctrl-C came while the plain peak was measured.
Report stop_while_measuring(const RunOptions& options) {
  bool is_measuring = false;
  Hooks hooks;
  hooks.say = [&](const std::string& message) { is_measuring = message.starts_with("measuring"); };
  hooks.is_stopped = [&] { return is_measuring; };
  return run(options, hooks);
}

TEST(Run, StopsWhileItMeasures) {
  const Report report = stop_while_measuring(lenet_options());
  EXPECT_TRUE(report.was_interrupted);
  EXPECT_EQ(report.steps, 0);
  EXPECT_EQ(report.steps_done, 0);
  EXPECT_EQ(report.plain_peak_bytes, std::nullopt);
  EXPECT_EQ(report.budget_bytes, 0);
}

TEST(Run, ThatIsStoppedBeforeItGoesOnTellsHowFarItHadCome) {
  const fs::path folder = fs::temp_directory_path() / ("lowtide_run_" + std::to_string(getpid()));
  RunOptions options = lenet_options();
  options.memory.budget.clear();
  options.checkpoint = folder.string();
  run(options, {});
  options.memory.budget = "90%";
  options.resume = true;
  options.steps = 4;
  const Report report = stop_while_measuring(options);
  fs::remove_all(folder);
  EXPECT_TRUE(report.was_interrupted);
  EXPECT_EQ(report.steps, 0);
  EXPECT_EQ(report.steps_done, 2);
  EXPECT_NE(report.checkpoint, "");
}

}  // namespace
}  // namespace lowtide::train
