// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/bytes.h"
#include "train/price_curve.h"

// A curve for tests: plain takes 10 GiB and 2 s a step.

namespace lowtide::cli {

inline train::PriceCurve price_example() {
  train::PriceCurve curve = {.policy = "auto",
                             .tiers = "host",
                             .timed_steps = 5,
                             .steps = 13,
                             .plain_peak_bytes = 10 * base::kGiB,
                             .plain_seconds = {2, 2, 2}};
  curve.training.model = "resnet50";
  curve.training.device = "cuda";
  const auto add = [&](const char* budget, std::int64_t gib, std::vector<double> ratios) {
    train::CurvePoint& point = curve.points.emplace_back();
    point.budget = budget;
    point.budget_bytes = point.peak_bytes = gib * base::kGiB;
    point.ratios = ratios;
    for (double& ratio : ratios) ratio *= 2;
    point.step_seconds = ratios;
    point.stats.evictions = 13 * 7;
  };
  add("80%", 8, {1.01, 1.05, 1.02});
  add("60%", 6, {1.1, 1.14, 1.05});
  add("40%", 4, {1.3, 1.1, 1.6});
  add("20%", 2, {});
  curve.points.back().refusal = "out of memory in convolution";
  curve.points.back().needed_bytes = 3 * base::kGiB;
  return curve;
}

}  // namespace lowtide::cli
