// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {

// One way to carry out an op on the device: as traced, or by one of its implementations.
struct Algorithm {
  // Index into Op::options; -1 as traced.
  std::int32_t implementation = -1;
  double seconds = 0;
  std::int64_t workspace_bytes = 0;

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

// The convolutions of a step that have a choice of algorithms, for planners that trade workspace
// for time. Recorded steps have none. What runs on the host or reads from there is no choice here,
// nor is what the problem does not allow.
class ConvolutionAlgorithms {
 public:
  // One algorithm for each of ops().
  using Choice = std::vector<Algorithm>;

  explicit ConvolutionAlgorithms(const Problem& problem);

  const std::vector<OpId>& ops() const { return ops_; }
  // Of the i-th of ops(): those that no other beats in both, from the quickest to the leanest.
  const std::vector<Algorithm>& ways(std::size_t i) const { return ways_[i]; }

  Choice as_traced() const;
  Choice quickest() const;
  Choice leanest() const;
  // For each the quickest whose workspace has room beside `bytes_beside`, which is what its op's
  // tick holds without it; the leanest where none has.
  Choice quickest_within(std::int64_t budget_bytes,
                         const std::vector<std::int64_t>& bytes_beside) const;

  // What ops and values cost by a choice, and with no workspace for what has a choice.
  cost::CostTable costs(const Choice& choice) const;
  cost::CostTable costs_beside() const;

 private:
  cost::CostTable traced_;
  std::vector<OpId> ops_;
  std::vector<std::vector<Algorithm>> ways_;
};

enum class AlgorithmRule {
  kQuickest,
  kLeanest,
  // The quickest for which there is room when its op runs, the leanest where there is for none.
  kWithinBudget,
};

// write_gaps() with the algorithms of a rule: a Choose for each op that is not to be carried out as
// traced. A plan that has any is for the simulator.
std::optional<WrittenPlan> write_gaps_by(AlgorithmRule rule, const Problem& problem,
                                         const ConvolutionAlgorithms& algorithms,
                                         const GapDecisions& decisions, std::int64_t max_replays);

}  // namespace lowtide::policy
