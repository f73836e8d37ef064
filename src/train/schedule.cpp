// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/suggest.h"

namespace lowtide::train {
namespace {

constexpr std::array<std::pair<Schedule::Kind, const char*>, 3> kNames = {
    {{Schedule::Kind::kConstant, "constant"},
     {Schedule::Kind::kCosine, "cosine"},
     {Schedule::Kind::kStep, "step"}}};

}  // namespace

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
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  throw InvalidInput(
      base::concat("unknown schedule '", name, "'; known are constant, cosine and step"));
}

std::string name_of(Schedule::Kind kind) {
  const auto* const found = std::find_if(kNames.begin(), kNames.end(),
                                         [kind](const auto& row) { return row.first == kind; });
  LT_CHECK(found != kNames.end(), "a schedule without a name");
  return found->second;
}

Schedule with(const AskedSchedule& asked, Schedule schedule) {
  schedule.kind = asked.kind.value_or(schedule.kind);
  schedule.rate = asked.rate.value_or(schedule.rate);
  schedule.warm_up_steps = asked.warm_up_steps.value_or(schedule.warm_up_steps);
  return schedule;
}

std::string differences(const Schedule& schedule, const Schedule& other) {
  std::vector<std::string> found;
  const auto compare = [&found](const char* option, const auto& now, const auto& before) {
    if (now != before) found.push_back(base::concat(option, " ", now, " instead of ", before));
  };
  compare("--lr", base::print_number(schedule.rate), base::print_number(other.rate));
  compare("--schedule", name_of(schedule.kind), name_of(other.kind));
  compare("--warmup", schedule.warm_up_steps, other.warm_up_steps);
  return base::join(found);
}

}  // namespace lowtide::train
