// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/run.h"

// What a training costs inside one budget after another, measured: the plain training and those
// inside budgets take turns, so that a machine that gets slower or faster does so for all of them.

namespace lowtide::train {

struct CurveOptions {
  // Its training and memory; the budget there is not looked at.
  RunOptions run;
  // As the user wrote them: "8GiB", or "40%" of what the plain training takes.
  std::vector<std::string> budgets;
  int rounds = 3;
  // Steps of each run: in the first ones plans are made, and fetches that came late get hurried.
  int untimed_steps = 12;
  int timed_steps = 5;
};

// The first loss that is not plain's.
struct LossDifference {
  // From 1.
  std::int64_t step = 0;
  double plain = 0;
  double got = 0;
};

// One budget over all rounds.
struct CurvePoint {
  std::string budget{};
  std::int64_t budget_bytes = 0;
  // Why it cannot be kept, and what the op that failed needed, 0 if that is not known. Empty: it
  // is kept.
  std::string refusal{};
  std::int64_t needed_bytes = 0;
  // By round: the median of its timed steps, and that over plain's in the same round.
  std::vector<double> step_seconds{};
  std::vector<double> ratios{};
  // The most of all rounds.
  std::int64_t peak_bytes = 0;
  std::int64_t reserved_peak_bytes = 0;
  // Of the last round, all of its steps.
  SessionStats stats{};
  std::optional<LossDifference> difference{};

  bool is_refused() const { return !refusal.empty(); }
};

struct PriceCurve {
  TrainingOptions training{};
  std::string policy{};
  std::string tiers{};
  int timed_steps = 0;
  // Steps of one run, the untimed ones too: so many losses were compared.
  int steps = 0;
  std::int64_t plain_peak_bytes = 0;
  // By round: the median of the timed steps.
  std::vector<double> plain_seconds{};
  // Set if plain does not even give the same losses twice; then those of others mean nothing.
  std::optional<LossDifference> plain_difference{};
  // The largest budget first.
  std::vector<CurvePoint> points{};
  // Then the rounds that were done count.
  bool was_interrupted = false;
};

// Where two runs differ first, bit for bit. Requires: as many losses in both.
std::optional<LossDifference> first_differing_loss(const std::vector<double>& plain,
                                                   const std::vector<double>& got);

// Kernels are made deterministic, for the losses are compared. Throws OutOfMemory if the plain
// training does not fit on the device, and else as run() does; a budget that cannot be kept is no
// reason to throw.
PriceCurve price_curve(CurveOptions options, const Hooks& hooks);

}  // namespace lowtide::train
