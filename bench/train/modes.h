// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/session.h"

// The ways of running the same work that are compared.

namespace lowtide::bench {

struct Mode {
  std::string name;
  bool has_session = false;
  // Of the plain peak; 0: the session has no budget.
  double budget_share = 0;
  Means means = Means::kMixed;
  // As SessionOptions::policy.
  std::string policy = "online";
  bool checkpoint_blocks = false;
  // What README.md predicts: step time over plain's. Nothing where a refusal is expected.
  std::optional<double> predicted_ratio{};
};

// All modes for a model, plain first and the one without budget next.
std::vector<Mode> modes_for(const std::string& model);

}  // namespace lowtide::bench
