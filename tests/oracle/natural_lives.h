// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"

namespace lowtide::oracle {

// When ops run and when values exist if nothing is evicted, by the definitions of
// docs/plan-format.md and nothing of src/. Ticks and ops are plain ints here.
class NaturalLives {
 public:
  // `sequence` lists every op once.
  NaturalLives(const Trace& trace, std::vector<int> sequence);
  static std::vector<int> traced_order(const Trace& trace);

  int end() const { return static_cast<int>(sequence_.size()); }
  int op_at(int tick) const { return sequence_[static_cast<std::size_t>(tick)]; }
  // Also of the end position.
  int tick_of(OpId op) const;
  // The tick of its producer; -1 for a source.
  int born(ValueId value) const { return born_[value.slot()]; }
  // The last tick in which it exists.
  int dies(ValueId value) const { return dies_[value.slot()]; }
  bool exists(ValueId value, int tick) const { return born(value) <= tick && tick <= dies(value); }
  // It is what its storage holds when the step ends.
  bool outlives(ValueId value) const;
  // The version before or after it in the same storage; not valid if there is none.
  ValueId before(ValueId value) const;
  ValueId after(ValueId value) const;

 private:
  int find_birth(ValueId value) const;
  int find_death(ValueId value) const;

  const Trace& trace_;
  std::vector<int> sequence_;
  std::vector<int> born_;
  std::vector<int> dies_;
};

}  // namespace lowtide::oracle
