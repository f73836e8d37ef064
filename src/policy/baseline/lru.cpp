// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Least recently used: on shortage, drop the value that was unused for longest. A rule without any
// idea of cost, to measure the others against.
//
// Limits: it knows neither what a value costs to make again nor how much room it gives, and least
// of all what its dropped ancestors cost: chains go as a whole. As with all online rules nothing is
// moved, and what no op of the step made stays.
#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

class LeastRecentlyUsed final : public OnlinePolicy {
 public:
  Neighbourhood neighbourhood() const override { return Neighbourhood::kNone; }
  double score(const Candidate& candidate) override { return 1 / candidate.stale_seconds; }
};

}  // namespace

std::unique_ptr<Policy> make_lru(const PolicyOptions& options) {
  OptionReader reader("lru", options);
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kIndexed);
  reader.finish();
  return lift(
      "lru", options, [] { return std::make_unique<LeastRecentlyUsed>(); }, online);
}

}  // namespace lowtide::policy
