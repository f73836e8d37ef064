// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/progress_line.h"

#include <sstream>

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

train::Progress at_step(std::int64_t step) {
  return {.step = step,
          .steps = 100,
          .loss = 2.30119,
          .seconds = static_cast<double>(step),
          .steps_of_run = step,
          .peak_bytes = 120 * kMiB,
          .budget_bytes = 200 * kMiB};
}

std::string shown(bool is_watched, const std::vector<std::pair<std::int64_t, double>>& steps) {
  std::istringstream in;
  std::ostringstream out, err;
  Console console{in, out, err, Style{}, is_watched};
  ProgressLine line(console, 64);
  for (const auto& [step, seconds] : steps) line.show(at_step(step), seconds);
  line.end();
  return err.str();
}

TEST(ProgressLine, SaysWhatThereIsToKnow) {
  EXPECT_EQ(progress_text(at_step(12), 64),
            "step 12 of 100, loss 2.3012, 64 examples/s, 120.0 MiB of 200.0 MiB, 1:28 left");
  train::Progress last = at_step(100);
  last.budget_bytes = 0;
  EXPECT_EQ(progress_text(last, 64), "step 100 of 100, loss 2.3012, 64 examples/s, 120.0 MiB");
}

TEST(ProgressLine, EvaluationSaysWhenAndOfHowMany) {
  EXPECT_EQ(evaluation_text({100, {.loss = 0.52014, .accuracy = 0.8124, .examples = 2000}}),
            "after step 100: accuracy 81.2 % of 2000 examples, loss 0.5201");
}

TEST(ProgressLine, IsTextWhenNobodyWatches) {
  const std::string text = shown(false, {{1, 1}, {2, 2}, {12, 12}, {13, 13}, {100, 14}});
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos);
  // The first, one after ten seconds and the last.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

TEST(ProgressLine, IsWrittenOverOnATerminal) {
  const std::string text = shown(true, {{1, 1}, {2, 1.05}, {3, 2}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 2) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

}  // namespace
}  // namespace lowtide::cli
