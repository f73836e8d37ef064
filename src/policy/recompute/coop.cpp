// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Coop (Zhang et al., Coop: memory is not a commodity, NeurIPS 2023). What is dropped to make room
// should make room in one piece, else more has to go than was asked for. A window slides over all
// values in order of address; of the windows that are long enough and hold nothing that must stay,
// the one with the lowest sum of costs is emptied, and the new value goes there. A value's cost is
// that of DTR without its size: seconds of its evicted neighbourhood over its staleness. Values
// with a low density of cost (seconds a byte) lie at one end of memory and all others at the other,
// so that windows of cheap values exist. In-place results stay where they are.
//
// Departures. The row of addresses is as long as the budget and is modelled: a plan says what goes
// and what is replayed, not where it lies. What finds no row at all (values that must stay lie in
// between) does without an address, as in an engine that can put pages together anew, and then the
// value of lowest cost goes until the bytes suffice. Dense is what takes more than `cheap_below`
// times the mean seconds a byte; the published code goes by the names of ops. Steps that fit are
// left alone, whatever their holes.
//
// Limits: values are never moved. A window holds whatever lies between its ends, so that on a
// device whose memory is not one row more goes than is needed.
#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

class Coop final : public OnlinePolicy {
 public:
  Neighbourhood neighbourhood() const override { return Neighbourhood::kClasses; }
  Addresses addresses() const override { return Addresses::kRows; }

  double score(const Candidate& candidate) override {
    return (candidate.compute_seconds + candidate.neighbour_seconds) / candidate.stale_seconds;
  }
};

}  // namespace

std::unique_ptr<Policy> make_coop(const PolicyOptions& options) {
  OptionReader reader("coop", options);
  sim::OnlineOptions online;
  online.search = sim::VictimSearch::kIndexed;
  online.ignore_below = 0;
  read_replay_options(reader, online);
  online.places.cheap_below = reader.number("cheap_below", online.places.cheap_below, 0, 1e9);
  online.places.max_pieces = reader.integer("pieces", online.places.max_pieces, 1, 1LL << 40);
  reader.finish();
  return lift(
      "coop", options, [] { return std::make_unique<Coop>(); }, online);
}

}  // namespace lowtide::policy
