// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "lowtide/machine.h"
#include "lowtide/session.h"
#include "lowtide/trace.h"
#include "train/run.h"
#include "train/training.h"

namespace lowtide::ctdr {

// What a step of a training takes: captured on the device, and planned and simulated there.
struct Judgement {
  std::int64_t plain_peak_bytes = 0;
  double plain_seconds = 0;
  // At the plain peak, by StorageKind.
  std::array<std::int64_t, kStorageKinds> plain_bytes{};
  // Under the best plan for the budget; nothing if none fits.
  std::optional<double> planned_seconds{};
  std::int64_t planned_peak_bytes = 0;
  // A budget for which there is a plan: the one that was asked about, or the smallest known.
  std::int64_t smallest_budget_bytes = 0;
};

struct JudgeOptions {
  Machine machine;
  std::int64_t budget_bytes = 0;
  // Who plans, with which means, and for how long at most.
  std::string policy = "tide";
  Means means = Means::kMixed;
  double think_seconds = 10;
};

// As steps are to run in a session: plans use its policy, its means and the tiers that it has.
// `auto` and `online` are judged by tide's plans, since the online rule does not look ahead.
JudgeOptions judge_as_in(const SessionOptions& session, Machine machine);

// Nothing if the user stopped it.
std::optional<Judgement> judge(train::TrainingOptions training, const JudgeOptions& options,
                               const train::Hooks& hooks);

// A step that is there already.
Judgement judge_trace(std::shared_ptr<const Trace> trace, const JudgeOptions& options);

}  // namespace lowtide::ctdr
