// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lowtide::train {

// How the learning rate goes over a training of `steps` steps.
struct Schedule {
  enum class Kind {
    kConstant,
    // Down to nothing along half a cosine.
    kCosine,
    // A tenth after half of the steps, a hundredth after three quarters.
    kStep,
  };
  Kind kind = Kind::kConstant;
  double rate = 0.05;
  // So many steps at first, in which the rate grows evenly.
  std::int64_t warm_up_steps = 0;
  std::int64_t steps = 1;

  // Of the step with this number, from 0.
  double rate_at(std::int64_t step) const;
};

// "constant", "cosine" or "step". Throws InvalidInput for other names.
Schedule::Kind parse_schedule(const std::string& name);
std::string name_of(Schedule::Kind kind);

// What a user said about a schedule; the rest is left open.
struct AskedSchedule {
  std::optional<Schedule::Kind> kind{};
  std::optional<double> rate{};
  std::optional<std::int64_t> warm_up_steps{};
};

// The schedule, but what was asked for is as asked.
Schedule with(const AskedSchedule& asked, Schedule schedule);

// How one schedule is not the other, in the words of the command line: "--lr 0.1 instead of 0.05,
// --warmup 10 instead of 0". Empty if it is the same but for the number of steps.
std::string differences(const Schedule& schedule, const Schedule& other);

}  // namespace lowtide::train
