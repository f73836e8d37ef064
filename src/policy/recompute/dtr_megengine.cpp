// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// MegEngine's form of dynamic tensor rematerialization (Kirisame et al., ICLR 2021, as in
// MegEngine's imperative runtime): on shortage, drop the value with the lowest
//   (cost + least)^a · p^replays / (((bytes + free bytes beside it) / MiB)^b · (staleness +
//   least)^d)
// with least = 1e-3, so that neither what costs nothing nor what was just used decides alone.
// Free bytes on either side count because dropping the value joins them to one row; p spares what
// was computed again already.
//
// Departures. MegEngine asks its allocator what is free beside a value; here values have modelled
// addresses, in a row of the budget's length, each in the smallest free stretch that holds it, and
// one for which none is long enough has nothing beside it. MegEngine's cost is that of the evicted
// neighbours alone, here the value's own counts too. It counts time in hundreds of megabytes that
// ops read and write; `unit` is what one of them is here in seconds, about what a GPU of 1 TB/s
// takes.
//
// Limits: as dtr. With the free bytes, large holes draw further victims next to them whatever these
// cost.
#include <cmath>

#include "policy/factories.h"
#include "policy/online_lifted.h"

namespace lowtide::policy {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

struct Exponents {
  double cost = 1;
  double bytes = 1;
  double age = 1;
  double replay_factor = 1.0001;
  double least = 1e-3;
  double unit_seconds = 1e-4;
};

class MegEngine final : public OnlinePolicy {
 public:
  explicit MegEngine(const Exponents& exponents) : e_(exponents) {}

  Neighbourhood neighbourhood() const override { return Neighbourhood::kClasses; }
  Addresses addresses() const override { return Addresses::kBeside; }

  double score(const Candidate& candidate) override {
    const double cost = (candidate.compute_seconds + candidate.neighbour_seconds) / e_.unit_seconds;
    const double mebibytes =
        static_cast<double>(candidate.bytes + candidate.free_beside_bytes) / kMebibyte;
    const double age = candidate.stale_seconds / e_.unit_seconds;
    return std::pow(cost + e_.least, e_.cost) *
           std::pow(e_.replay_factor, candidate.times_replayed) /
           (std::pow(mebibytes, e_.bytes) * std::pow(age + e_.least, e_.age));
  }

 private:
  Exponents e_;
};

}  // namespace

std::unique_ptr<Policy> make_dtr_megengine(const PolicyOptions& options) {
  OptionReader reader("dtr_megengine", options);
  Exponents exponents;
  exponents.cost = reader.number("a", exponents.cost, 0, 10);
  exponents.bytes = reader.number("b", exponents.bytes, 0, 10);
  exponents.age = reader.number("d", exponents.age, 0, 10);
  exponents.replay_factor = reader.number("p", exponents.replay_factor, 1, 10);
  exponents.least = reader.number("least", exponents.least, 1e-12, 1e6);
  exponents.unit_seconds = reader.number("unit", exponents.unit_seconds, 1e-12, 1e6);
  const sim::OnlineOptions online = read_online_options(reader, sim::VictimSearch::kIndexed);
  reader.finish();
  return lift(
      "dtr_megengine", options, [exponents] { return std::make_unique<MegEngine>(exponents); },
      online);
}

}  // namespace lowtide::policy
