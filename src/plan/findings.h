// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::plan {

// What is wrong with a plan, as far as it was found. One plan can be wrong in as many places as it
// has actions, so that the list has an end.
class Findings {
 public:
  static constexpr std::size_t kLimit = 100;

  bool full() const { return violations_.size() >= kLimit; }
  bool empty() const { return violations_.empty(); }
  void add(Violation violation);
  std::vector<Violation> take() { return std::move(violations_); }

 private:
  std::vector<Violation> violations_;
};

}  // namespace lowtide::plan
