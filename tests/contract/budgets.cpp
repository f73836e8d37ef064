// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "budgets.h"

#include <string>

#include "support/sanitizer.h"

namespace lowtide::contract {
namespace {

using Source = TraceCase::Source;

const std::vector<int> kAll{100, 90, 70, 50, 35, 20};
const std::vector<int> kForVariants{70, 50, 20};
const std::vector<int> kForSanitizers{50};

struct SlowPair {
  std::string policy;
  TraceCase trace;
  std::vector<int> percents;
};

// Pairs that would take more than 3 s of processor time in the dev build with all budgets.
const std::vector<SlowPair>& slow_pairs() {
  static const std::vector<SlowPair> kPairs{
      // Walks through the evicted neighbourhood of every candidate, and an unrolled net has large
      // ones: 33 s.
      {"dtr_score_exact", {Source::kRecorded, "lstm"}, {100, 90, 70, 50}},
      // 200 replays an op, written and checked again at each budget: 8.5 s.
      {"evict_all_by_recompute", {Source::kDtrLog, "treelstm"}, {50, 20}},
      {"evict_all_without_swaps", {Source::kDtrLog, "treelstm"}, {50, 20}},
      {"sublinear_recursive", {Source::kRecorded, "lstm"}, {90, 50, 20}},
      {"capuchin_no_swap", {Source::kRecorded, "lstm"}, {90, 50, 20}},
      {"sublinear", {Source::kRecorded, "lstm"}, {90, 50, 20}},
      {"rotor", {Source::kDtrLog, "lstm"}, {90, 50, 20}},
      {"rotor", {Source::kDtrLog, "treelstm"}, {90, 50, 20}},
      // Goes on for 20 replays an op at each budget that it tries before it refuses: 3.6 and 4.1 s.
      {"dtr_megengine", {Source::kRecorded, "lstm"}, {90, 70, 50}},
      {"coop", {Source::kDtrLog, "unroll_gan"}, {90, 50}},
      // A ladder of sets, each weighed several times: 2 to 4 s.
      {"knapsack", {Source::kRecorded, "lstm"}, {90, 50}},
      {"knapsack", {Source::kDtrLog, "lstm"}, {90, 50}},
      {"knapsack", {Source::kDtrLog, "treelstm"}, {90, 50}},
      // Contain all of the above.
      {"tide", {Source::kRecorded, "lstm"}, {90, 50}},
      {"tide", {Source::kRecorded, "densenet121"}, {70, 35}},
      {"tide_no_swap", {Source::kRecorded, "lstm"}, {50}},
      {"tide_no_swap", {Source::kRecorded, "densenet121"}, {70, 35}},
  };
  return kPairs;
}

}  // namespace

std::vector<int> budgets_for(const support::PolicyCase& policy, const TraceCase& trace) {
  const bool is_large = trace.source == Source::kRecorded || trace.source == Source::kDtrLog;
  if (support::kIsSanitized && is_large) return kForSanitizers;
  for (const SlowPair& pair : slow_pairs()) {
    const bool is_it = pair.policy == policy.name && pair.trace.source == trace.source &&
                       pair.trace.name == trace.name;
    if (is_it) return pair.percents;
  }
  const bool is_variant = policy.name != policy.policy;
  return is_variant && trace.source == Source::kDtrLog ? kForVariants : kAll;
}

}  // namespace lowtide::contract
