// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Dynamic tensor rematerialization (Kirisame et al., ICLR 2021): on shortage, drop the value with
// the lowest h = (cost of computing it and the evicted values around it) / (bytes · staleness).
//
// Where this departs from the paper: all values are looked at, through an index; its prototype
// draws a sample (search=sqrt). What the program has let go of is not kept for later replays
// (dead=drop).
//
// Limits: the cost around a value is that of whole ops, as the paper has it, also where one op
// yields several values. Values are never moved, so sources stay on the device throughout.
#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

class Dtr final : public OnlinePolicy {
 public:
  explicit Dtr(Neighbourhood neighbourhood) : neighbourhood_(neighbourhood) {}

  Neighbourhood neighbourhood() const override { return neighbourhood_; }

  double score(const Candidate& candidate) override {
    return (candidate.compute_seconds + candidate.neighbour_seconds) /
           (static_cast<double>(candidate.bytes) * candidate.stale_seconds);
  }

 private:
  Neighbourhood neighbourhood_;
};

}  // namespace

std::unique_ptr<Policy> make_dtr(const PolicyOptions& options) {
  OptionReader reader("dtr", options);
  const auto neighbourhood = reader.choice<Neighbourhood>("score", Neighbourhood::kClasses,
                                                          {{"classes", Neighbourhood::kClasses},
                                                           {"exact", Neighbourhood::kExact},
                                                           {"local", Neighbourhood::kNone}});
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kIndexed);
  reader.finish();
  return lift(
      "dtr", options, [neighbourhood] { return std::make_unique<Dtr>(neighbourhood); }, online);
}

}  // namespace lowtide::policy
