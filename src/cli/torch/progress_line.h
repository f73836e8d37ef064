// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/console.h"
#include "train/run.h"

namespace lowtide::cli {

// Tells how a training goes: on a terminal in one line that is written over, else in a line now and
// then, without anything that is not text.
class ProgressLine {
 public:
  // Keeps the console.
  ProgressLine(Console& console, std::int64_t batch) : console_(console), batch_(batch) {}

  void show(const train::Progress& progress, double now_seconds);
  // A line of its own.
  void say(const std::string& message);
  // Leaves the line that is written over as it is. To be called before others write.
  void end();

 private:
  bool is_due(const train::Progress& progress, double now_seconds) const;

  Console& console_;
  const std::int64_t batch_;
  double shown_seconds_ = -1;
  bool is_open_ = false;
};

// "step 12 of 100, loss 2.3012, 1240 examples/s, 120 MiB of 200 MiB, 0:35 left"
std::string progress_text(const train::Progress& progress, std::int64_t batch);

// "after step 100: accuracy 81.2 % of 2000 examples, loss 0.5201"
std::string evaluation_text(const train::DatedEvaluation& dated);

}  // namespace lowtide::cli
