// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unordered_set>
#include <vector>

#include "run/torch/value.h"

namespace lowtide::run {

// Finds what records would compute from values that are about to go for good. Needs the books' lock
// from the first search until it is destroyed or cleared.
class Dependents {
 public:
  // Of the values that are to go, those that are computed from others of them are looked from too.
  explicit Dependents(const std::vector<ValueP>& going);

  void look_from(const ValueP& value);
  void clear();

  // Have a storage that is still in use.
  std::vector<ValueP> alive;
  // Can never be computed again, and nobody but replays would ask for them.
  std::vector<ValueP> lost;

 private:
  void visit_results(const Record& reader);
  void visit(ValueP value);

  std::vector<ValueP> open_;
  std::unordered_set<const Value*> going_;
  std::unordered_set<const Value*> seen_;
};

}  // namespace lowtide::run
