// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace lowtide::train {

double Schedule::rate_at(std::int64_t step) const {
  if (step < warm_up_steps) {
    return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up_steps);
  }
  const auto left = static_cast<double>(std::max<std::int64_t>(steps - warm_up_steps, 1));
  const double done = std::min(static_cast<double>(step - warm_up_steps) / left, 1.0);
  switch (kind) {
    case Kind::kConstant:
      return rate;
    case Kind::kCosine:
      return rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
    case Kind::kStep:
      return rate * (done < 0.5 ? 1 : done < 0.75 ? 0.1 : 0.01);
  }
  return rate;
}

Schedule::Kind parse_schedule(const std::string& name) {
  if (name == "constant") return Schedule::Kind::kConstant;
  if (name == "cosine") return Schedule::Kind::kCosine;
  if (name == "step") return Schedule::Kind::kStep;
  throw InvalidInput(
      base::concat("unknown schedule '", name, "'; known are constant, cosine and step"));
}

}  // namespace lowtide::train
