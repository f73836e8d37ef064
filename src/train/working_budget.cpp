// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/working_budget.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::train {
namespace {

// More than enough to come from a hundredth of what is needed to it.
constexpr int kMostTries = 48;

// Why not; nothing: they go through.
std::optional<OutOfMemory> try_steps(const RefusedTraining& refused, std::int64_t budget_bytes,
                                     const Hooks& hooks) {
  try {
    take_first_steps(session_options(refused.memory, budget_bytes, refused.training.device),
                     refused.training, refused.data, hooks.is_stopped);
  } catch (const OutOfMemory& refusal) {
    return refusal;
  }
  return std::nullopt;
}

// Within an eighth.
bool is_close(std::int64_t fails_at, std::int64_t works_at) {
  return works_at <= fails_at + fails_at / 8;
}

}  // namespace

OutOfMemory with_working_budget(const RefusedTraining& refused, const Hooks& hooks) {
  hooks.say("the budget cannot be kept; looking for the smallest that can");
  std::int64_t fails_at = refused.budget_bytes;
  std::int64_t works_at = 0;
  // What an op needs is a hint, and may be more than what works: it may have held what others
  // could have done without.
  std::int64_t next = refused.refusal.smallest_budget_bytes();
  for (int i = 0; i < kMostTries; ++i) {
    next = std::max(next, fails_at + fails_at / 8);
    const std::optional<OutOfMemory> refusal = try_steps(refused, next, hooks);
    if (hooks.is_stopped()) return refused.refusal;
    (refusal ? fails_at : works_at) = next;
    if (works_at > 0 && is_close(fails_at, works_at)) break;
    next = works_at > 0 ? std::midpoint(fails_at, works_at) : refusal->smallest_budget_bytes();
  }
  if (works_at == 0) return refused.refusal;
  return OutOfMemory(
      base::concat(refused.refusal.what(), " The smallest budget that was found to work is ",
                   base::format_bytes(works_at), ": --budget ", works_at),
      works_at, 0);
}

}  // namespace lowtide::train
