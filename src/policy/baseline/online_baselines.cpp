// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Two rules without any idea of cost, to measure the others against: the value unused for longest,
// and any value at all.
#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

class LeastRecentlyUsed final : public OnlinePolicy {
 public:
  Neighbourhood neighbourhood() const override { return Neighbourhood::kNone; }
  double score(const Candidate& candidate) override { return 1 / candidate.stale_seconds; }
};

// The search draws the victim, so that no score is needed to choose between candidates.
class AnyValue final : public OnlinePolicy {
 public:
  Neighbourhood neighbourhood() const override { return Neighbourhood::kNone; }
  double score(const Candidate& /*candidate*/) override { return 0; }
};

}  // namespace

std::unique_ptr<Policy> make_lru(const PolicyOptions& options) {
  OptionReader reader("lru", options);
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kIndexed);
  reader.finish();
  return lift(
      "lru", options, [] { return std::make_unique<LeastRecentlyUsed>(); }, online);
}

std::unique_ptr<Policy> make_random(const PolicyOptions& options) {
  OptionReader reader("random", options);
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kOne);
  reader.finish();
  return lift(
      "random", options, [] { return std::make_unique<AnyValue>(); }, online);
}

}  // namespace lowtide::policy
