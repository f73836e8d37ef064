// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lowtide/session.h"
#include "train/training.h"

namespace lowtide::train {

// What the user says about memory.
struct MemoryOptions {
  // "8GiB", or "40%" of what the training takes without a budget. Empty: none.
  std::string budget;
  std::string policy = "auto";
  // Where values may be moved to: "none" (they are only recomputed), "host", or "host,disk".
  std::string tiers = "host";
  // Off: values are only moved, so there must be a tier.
  bool may_recompute = true;
  // How much host memory moved values may take, as a size. Empty: half of the machine's.
  std::string host_cap{};
  // Names the disk; goes with "host,disk" or stands for it.
  std::string spill_dir;
};

// Whether the budget is a share, so that the plain peak is asked for.
bool is_share(const std::string& budget);

// After so many steps libraries have their workspaces and the optimizer its states.
inline constexpr int kFirstSteps = 2;

// Takes the first steps of the training in a session of its own, and gives what that did. The
// training that is then begun is not touched by this. `is_stopped` is asked between the steps.
// Throws what the session throws.
SessionStats take_first_steps(const SessionOptions& inside, const TrainingOptions& options,
                              const std::shared_ptr<const zoo::DataSet>& data,
                              const std::function<bool()>& is_stopped);

// The memory that the training takes when nothing is evicted: that of its first steps in a session
// without a budget.
std::int64_t measure_plain_peak(const TrainingOptions& options,
                                const std::shared_ptr<const zoo::DataSet>& data,
                                const std::function<bool()>& is_stopped);

// What there is to say about how the budget is counted; empty: nothing. Torch's allocator takes
// memory from a GPU in pieces of 2 and 20 MiB, so a small budget there caps what it hands out.
std::string note_on_budget(std::int64_t budget_bytes, const std::string& device);

// Throws InvalidInput for what is no size, and for combinations that make no sense.
SessionOptions session_options(const MemoryOptions& memory, std::int64_t budget_bytes,
                               const std::string& device);

}  // namespace lowtide::train
