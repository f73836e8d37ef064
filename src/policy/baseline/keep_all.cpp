// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Evicts nothing: plain training. Its plan is empty, and it is refused where the step does not fit.
//
// Limits: it saves nothing; it is what the others are measured against.
#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"

namespace lowtide::policy {
namespace {

class KeepAll final : public Policy {
 public:
  PlanOutcome plan(const Problem& problem) const override {
    const plan::MemoryBounds bounds = plan::memory_bounds(*problem.trace, problem.machine);
    if (bounds.plain_peak_bytes <= problem.budget_bytes) {
      return finish_plan(problem, "keep_all", WrittenPlan{});
    }
    return Refusal{.reason = base::concat("the plain step takes ",
                                          base::format_bytes(bounds.plain_peak_bytes)),
                   .smallest_budget_bytes = bounds.plain_peak_bytes};
  }
};

}  // namespace

std::unique_ptr<Policy> make_keep_all(const PolicyOptions& options) {
  OptionReader("keep_all", options).finish();
  return std::make_unique<KeepAll>();
}

}  // namespace lowtide::policy
