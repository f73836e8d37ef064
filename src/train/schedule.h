// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
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

}  // namespace lowtide::train
