// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/profile.h"

#include <chrono>

#include "base/check.h"
#include "lowtide/session.h"

namespace lowtide::train {
namespace {

using Clock = std::chrono::steady_clock;

// Libraries choose their kernels in the first; ops are timed in all of them.
constexpr int kWarmUpSteps = 4;

}  // namespace

std::optional<Profile> profile(TrainingOptions& options, const Hooks& hooks) {
  const std::shared_ptr<const zoo::DataSet> data = open_data_for(options);
  Session session({.device = options.device, .step_aside = false});
  Training training(options, data);
  training.set_steps(kWarmUpSteps + 1);
  training.name_tensors(session);
  session.end_step();
  hooks.say(base::concat("capturing a step, after ", kWarmUpSteps, " to warm up"));
  for (int i = 0; i < kWarmUpSteps; ++i) {
    if (hooks.is_stopped()) return std::nullopt;
    session.step([&] { training.step(); });
  }
  static_cast<void>(training.loss());  // waits for the device
  session.capture_next_step();
  const Clock::time_point start = Clock::now();
  session.step([&] { training.step(); });
  static_cast<void>(training.loss());
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return Profile{session.captured(options.model), seconds,
                 report::parse_run_record(session.run_record(options.model))};
}

}  // namespace lowtide::train
