// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/session.h"
#include "torch/plain_run.h"
#include "torch/program.h"
#include "torch/snapshot.h"

// Runs a program under a session and compares the state after every step with that of a plain run,
// bit for bit.

namespace lowtide::torch_test {

// What this process has found out about a program; that of the last one asked for is remembered.
struct Reference {
  // Empty if it was not asked for.
  std::string name;
  PlainRun run;
  // The peak of a session that only watches.
  std::int64_t plain_peak_bytes = 0;
  // What libraries hold for good (cuBLAS: 65 MiB): on a GPU far more than these small programs
  // need.
  std::int64_t fixed_bytes = 0;

  // A share of what the program itself takes, beside what is fixed.
  std::int64_t budget(int share_percent) const {
    return fixed_bytes + (plain_peak_bytes - fixed_bytes) * share_percent / 100;
  }
  // Whether something has to go. On a GPU libraries make do with smaller workspaces just below the
  // plain peak.
  bool must_evict(std::int64_t budget_bytes) const;
};
const Reference& reference(const Program& program, int steps);

struct ManagedRun {
  SessionStats stats;
  // Held when the program was gone.
  std::int64_t held_after_bytes = 0;
  // The peak by the meter's books; means nothing on a GPU.
  std::int64_t metered_peak_bytes = 0;
  // The first step that is not as it should be, and how.
  std::optional<std::string> difference;
};

// Steps from one on, and before another, that are taken without a session: the one before them
// ends, and another begins after them.
struct Pause {
  int from = 0;
  int to = 0;
};

// One run under a session with these options; what it did is told of the last session. Throws what
// the session throws.
ManagedRun run_managed(const Program& program, const SessionOptions& options,
                       const PlainRun& wanted, Pause pause = {});

// Trains `steps` steps inside `share_percent` of the plain peak and expects the plain run's bits, a
// peak within the budget, and that the means were used. If the session refuses the budget, tries
// again with the smallest that it names, and expects that to work.
void expect_identical(const Program& program, int steps, int share_percent, SessionOptions options);

// Takes a refused run up to a budget that works. Gives the run and the budget.
struct Feasible {
  ManagedRun run;
  std::int64_t budget_bytes = 0;
  int refusals = 0;
};
std::optional<Feasible> run_feasibly(const Program& program, SessionOptions options,
                                     std::int64_t budget_bytes, const Reference& wanted,
                                     Pause pause = {});

// The smallest budget that a refusal names; 0 if it names none.
std::int64_t smallest_budget(const OutOfMemory& refusal);

// What the device's libraries hold for good, once they have been used; 0 on the CPU.
std::int64_t fixed_bytes();

// Holds a tensor while its bytes are read.
Access through(Session& session);

// Options for the device under test, with a budget in bytes; 0: none.
SessionOptions options_for(std::int64_t budget_bytes, Means means = Means::kMixed);

std::string name_of(Means means);

}  // namespace lowtide::torch_test
