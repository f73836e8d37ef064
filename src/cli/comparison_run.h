// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/step.h"

// What `compare` does with steps, wherever they come from: a file, or a model that was profiled.

namespace lowtide::cli {

struct ComparisonOptions {
  std::string budgets;
  // None, or "all": every policy of the catalogue.
  std::vector<std::string> policies;
  double think_seconds = 0;
  bool json = false;
  // Files to write besides; empty for none.
  std::string csv;
  std::string svg;
  std::string html;
};

void add_comparison_options(CLI::App& verb, ComparisonOptions& options);

class ComparisonRun {
 public:
  // Throws UsageError for a bad budget, an unknown policy or a file that cannot be written, so that
  // none of them waits for its turn.
  explicit ComparisonRun(const ComparisonOptions& options);

  // Plans the step with all policies under all budgets; nothing more once the user has stopped it.
  void add(const PlainStep& step, Console& console);
  // Prints and writes what was found.
  ExitCode finish(Console& console);

 private:
  const ComparisonOptions options_;
  const std::vector<Planner> planners_;
  const std::vector<std::string> budgets_;
  std::string text_;
  std::string csv_;
  std::string svg_;
  std::string sections_;
  nlohmann::json documents_ = nlohmann::json::array();
  bool any_fits_ = false;
  bool was_stopped_ = false;
};

}  // namespace lowtide::cli
