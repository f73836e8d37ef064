// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/estimate_report.h"
#include "estimate/transformer_formulas.h"
#include "zoo/model.h"

// What was asked of `lowtide estimate`, and what comes of it.

namespace lowtide::cli {

struct EstimateChoice {
  std::string subject;
  zoo::ModelOptions model;
  std::vector<std::int64_t> batches = {32};
  std::string optimizer = "sgd";
  std::vector<std::string> amps = {"off"};
  std::string states = "first-update";
  std::string device = "gpu";
  std::string gpu;
  std::string budget;
  std::string output;
  // Of an ONNX file: "NAME=SIZE".
  std::vector<std::string> axes;
  bool wants_largest = false;
  bool json = false;
  // The names of the options that were given.
  std::set<std::string> given;
};

// The largest batch that is looked for.
inline constexpr std::int64_t kMostEstimatedBatch = 1 << 20;

struct EstimateAnswer {
  std::vector<StepEstimate> steps;
  // By amp; empty unless asked for. 0: none fits.
  std::vector<std::pair<std::string, std::int64_t>> largest;
  std::set<std::string> warnings;
  // Of the last step, where there are formulas for its model.
  std::optional<estimate::TransformerFigures> formulas;
  estimate::CountedFigures counted;
};

// Throws UsageError for options that mean nothing for what is to be estimated.
EstimateAnswer estimate_answer(const EstimateChoice& choice, const EstimatePlace& place,
                               Console& console);

}  // namespace lowtide::cli
