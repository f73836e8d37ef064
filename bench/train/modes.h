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
  // Of the plain peak; 0: the session has no budget, or one in bytes.
  double budget_share = 0;
  std::int64_t budget_bytes = 0;
  Means means = Means::kMixed;
  // As SessionOptions::policy.
  std::string policy = "online";
  bool checkpoint_blocks = false;
  // What README.md predicts: step time over plain's. Nothing where a refusal is expected.
  std::optional<double> predicted_ratio{};
};

// All modes for a model, plain first and the one without budget next. With `budgets` (sizes or
// percentages, with commas) more that are guided under each of them: by each of the policies, or by
// "auto" without any. Throws InvalidInput for what is neither a size nor a percentage.
std::vector<Mode> modes_for(const std::string& model, const std::string& budgets,
                            const std::vector<std::string>& policies);

}  // namespace lowtide::bench
