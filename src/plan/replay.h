// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "plan/reads.h"

namespace lowtide::plan {

// The checker's rules for Run: what it needs, what it takes while it runs, and which of its results
// stay.
class Replay {
 public:
  Replay(const Problem& problem, const Plan& plan, const Schedule& schedule, Residency& residency,
         Findings& findings);

  // Finds out which runs of this tick read what. Call before the first run of the tick.
  void begin_prelude(Tick tick, OpId position);
  // Carries one run out; `index` is that of the action in the plan.
  void run(const Run& run, std::int32_t index);

 private:
  bool can_run(const Run& run);
  void check_results(const Run& run);
  std::int64_t besides_bytes(OpId id) const;
  bool is_kept_past_prelude(ValueId value) const;
  void settle(ValueId value, std::int32_t index);
  void release_read(const Op& op, std::int32_t index);

  const Problem& problem_;
  const Trace& trace_;
  const Plan& plan_;
  const Schedule& schedule_;
  Residency& residency_;
  Findings& findings_;
  Reads reads_;
  Tick tick_ = 0;
  OpId position_;
  // By value: the last run of this prelude that reads it (an index into the plan's actions).
  // Indices only grow within a prelude, and entries of earlier preludes are told by their tick.
  struct Reader {
    Tick tick = -1;
    std::int32_t action = -1;
  };
  std::vector<Reader> last_reader_;
  // By value: it is here for later runs of the prelude only.
  std::vector<bool> is_temporary_;
};

}  // namespace lowtide::plan
