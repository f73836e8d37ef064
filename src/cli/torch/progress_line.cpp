// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/progress_line.h"

#include <ostream>

#include "base/bytes.h"
#include "base/check.h"
#include "base/printed.h"
#include "cli/figures.h"

namespace lowtide::cli {
namespace {

using base::printed;

constexpr double kWatchedSeconds = 0.1;
constexpr double kUnwatchedSeconds = 10;

std::string time_left(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 3600) return printed("%lld:%02lld", whole / 60, whole % 60);
  return printed("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_text(const train::Progress& progress, std::int64_t batch) {
  std::string text = base::concat("step ", progress.step, " of ", progress.steps, ", loss ",
                                  printed("%.4f", progress.loss));
  if (progress.seconds > 0) {
    const double rate = static_cast<double>(progress.steps_of_run) / progress.seconds;
    text += printed(", %.0f examples/s", rate * static_cast<double>(batch));
  }
  if (progress.peak_bytes > 0) text += ", " + base::format_bytes(progress.peak_bytes);
  if (progress.budget_bytes > 0) text += " of " + base::format_bytes(progress.budget_bytes);
  if (progress.seconds > 0 && progress.step < progress.steps) {
    const double seconds_a_step = progress.seconds / static_cast<double>(progress.steps_of_run);
    text += ", " + time_left(seconds_a_step * static_cast<double>(progress.steps - progress.step)) +
            " left";
  }
  return text;
}

std::string evaluation_text(const train::DatedEvaluation& dated) {
  const train::Evaluation& found = dated.evaluation;
  return base::concat("after step ", dated.step, ": accuracy ", format_percent(found.accuracy),
                      " of ", found.examples, " examples, loss ", printed("%.4f", found.loss));
}

bool ProgressLine::is_due(const train::Progress& progress, double now_seconds) const {
  if (shown_seconds_ < 0 || progress.step == progress.steps) return true;
  const double pause = console_.is_watched ? kWatchedSeconds : kUnwatchedSeconds;
  return now_seconds - shown_seconds_ >= pause;
}

void ProgressLine::show(const train::Progress& progress, double now_seconds) {
  if (!is_due(progress, now_seconds)) return;
  shown_seconds_ = now_seconds;
  const std::string text = progress_text(progress, batch_);
  if (console_.is_watched) {
    console_.err << "\r" << text << "\x1b[K" << std::flush;
    is_open_ = true;
  } else {
    console_.err << text << std::endl;
  }
}

void ProgressLine::say(const std::string& message) {
  end();
  console_.err << message << std::endl;
}

void ProgressLine::end() {
  if (is_open_) console_.err << std::endl;
  is_open_ = false;
}

}  // namespace lowtide::cli
