// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Any value: on shortage, drop one that is drawn, each candidate as likely as the others. A rule
// that knows nothing, to measure the others against.
//
// Limits: one draw of many; another seed gives another plan, and their times differ. As with all
// online rules nothing is moved, and what no op of the step made stays. With a search other than
// `one` the first candidate that it comes to is taken, since all score alike.
#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

// The search draws the victim, so that no score is needed to choose between candidates.
class AnyValue final : public OnlinePolicy {
 public:
  Neighbourhood neighbourhood() const override { return Neighbourhood::kNone; }
  double score(const Candidate& /*candidate*/) override { return 0; }
};

}  // namespace

std::unique_ptr<Policy> make_random(const PolicyOptions& options) {
  OptionReader reader("random", options);
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kOne);
  reader.finish();
  return lift(
      "random", options, [] { return std::make_unique<AnyValue>(); }, online);
}

}  // namespace lowtide::policy
