// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/console.h"
#include "estimate/allocation_walk.h"
#include "estimate/gpus.h"
#include "lowtide/trace.h"

// What `lowtide estimate` says of a step.

namespace lowtide::cli {

// tests/train/test_estimate.py holds every model of the zoo to it.
inline constexpr double kCpuMargin = 0.01;

// Where the step is to run.
struct EstimatePlace {
  // Not set: on the CPU, whose allocator has no segments.
  std::optional<estimate::Gpu> gpu;
  // What torch's allocator may hold: --budget, else what the card's memory leaves; 0: nobody asked.
  std::int64_t budget_bytes = 0;

  Machine machine() const;
  // By how much of an estimate what is measured may be above it.
  double margin() const { return gpu ? estimate::kMargin : kCpuMargin; }
};

enum class Fit { kNotAsked, kFits, kFitsWithoutMargin, kFitsWithLowtide, kDoesNot };

struct StepEstimate {
  // What was asked for: "64", "adamw", "bf16".
  std::int64_t batch = 0;
  std::string optimizer;
  std::string amp;

  std::shared_ptr<const Trace> trace;
  estimate::TrainingPeaks peaks;
  Fit fit = Fit::kNotAsked;
  // With kFitsWithLowtide: what its plan adds to the step, as a share. With kDoesNot: the smallest
  // budget that would do.
  double overhead = 0;
  std::int64_t smallest_budget_bytes = 0;

  // What has to be within the budget: on a GPU what is reserved, in whichever step is the larger.
  std::int64_t taken_bytes(const EstimatePlace& place) const;
  bool fits_with_margin(const EstimatePlace& place) const;
  // What torch takes from the device, and with the context what the process does.
  std::int64_t reserved_bytes() const { return peaks.steady.reserved_bytes; }
  std::int64_t process_bytes() const { return reserved_bytes() + estimate::kContextBytes; }
};

// Walks the step and, if it does not fit, has it planned.
StepEstimate estimate_step(std::shared_ptr<const Trace> trace, const EstimatePlace& place,
                           const estimate::WalkOptions& walk = {});

// One row for each estimate.
std::string estimates_table(const std::vector<StepEstimate>& steps, const EstimatePlace& place,
                            const Style& style);
// Where the memory of one goes.
std::string estimate_details(const StepEstimate& step, const EstimatePlace& place,
                             const Style& style);
nlohmann::json estimate_json(const StepEstimate& step, const EstimatePlace& place);

}  // namespace lowtide::cli
