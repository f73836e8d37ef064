// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/findings.h"

namespace lowtide::plan {

// The checker's picture of the arena in which `place … offset` puts values. A value takes the bytes
// of its raw form from when it comes onto the device in any form until it has left in all.
class Arena {
 public:
  // Reports places that reach beyond the budget and leaves them out.
  // Requires: check_names finds nothing in the plan, and no value is placed twice.
  Arena(const Problem& problem, const Plan& plan, Findings& findings);

  // Reports an overlap, and then leaves the value out until it has left.
  void enter(ValueId value, OpId position);
  void leave(ValueId value);

 private:
  struct Extent {
    std::int64_t end = 0;
    ValueId value;
  };

  void place(ValueId value, std::int64_t offset);
  std::int64_t bytes_of(ValueId value) const;
  void report(ValueId value, ValueId other, OpId position);

  const Problem& problem_;
  Findings& findings_;
  // By value, -1 for none; empty if the plan places nothing.
  std::vector<std::int64_t> offsets_;
  // By offset. Extents never overlap, so only neighbours need a look.
  std::map<std::int64_t, Extent> taken_;
};

}  // namespace lowtide::plan
