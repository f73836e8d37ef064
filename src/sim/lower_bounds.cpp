// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "plan/schedule.h"
#include "sim/known_names.h"

namespace lowtide {
namespace {

// The bytes that a plan sends over every lane of every link.
class Traffic {
 public:
  Traffic(const Problem& problem, const Plan& plan, const plan::Schedule& schedule)
      : problem_(problem), trace_(*problem.trace), lanes_(problem.machine.tiers.size()) {
    copies_.resize(trace_.values().size());
    for (const StartsIn& start : plan.starts) {
      const std::span<const ValueId> versions = trace_.versions(start.storage);
      if (!versions.empty()) copies_[versions.front().slot()].tier = start.tier;
    }
    // A fetch carries what the last move before it left behind, so the order matters.
    for (trace::Tick tick = 0; tick <= schedule.end(); ++tick) {
      for (const std::int32_t index : schedule.at(tick).issues) add(plan, index);
      for (const std::int32_t index : schedule.at(tick).releases) add(plan, index);
    }
  }

  double busiest_seconds() const {
    double seconds = 0;
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
      const Tier& tier = problem_.machine.tiers[t];
      seconds = std::max({seconds, lanes_[t].written_bytes / tier.write_bytes_per_second,
                          lanes_[t].read_bytes / tier.read_bytes_per_second});
    }
    return seconds;
  }

 private:
  struct Lanes {
    double written_bytes = 0;
    double read_bytes = 0;
  };
  struct Copy {
    TierId tier{0};
    const CodecOption* codec = nullptr;
  };

  void add(const Plan& plan, std::int32_t index) {
    const Action& action = plan.actions[static_cast<std::size_t>(index)];
    if (const auto* move = std::get_if<Move>(&action)) {
      const Storage& storage = trace_.storage_of(move->value);
      const std::int32_t codec = plan::codec_index(storage, move->codec);
      copies_[move->value.slot()] = {
          move->tier, codec < 0 ? nullptr : &storage.codecs[static_cast<std::size_t>(codec)]};
      pass(move->value, &Lanes::written_bytes);
    } else if (const auto* fetch = std::get_if<Fetch>(&action)) {
      pass(fetch->value, &Lanes::read_bytes);
    }
  }

  // Everything passes the link to host memory; what goes further passes its tier's link as well.
  void pass(ValueId value, double Lanes::*direction) {
    if (lanes_.empty()) return;
    const Copy& copy = copies_[value.slot()];
    const std::int64_t bytes =
        copy.codec != nullptr ? copy.codec->bytes : trace_.storage_of(value).bytes;
    lanes_.front().*direction += static_cast<double>(bytes);
    if (copy.tier != TierId{0}) lanes_[copy.tier.slot()].*direction += static_cast<double>(bytes);
  }

  const Problem& problem_;
  const Trace& trace_;
  std::vector<Lanes> lanes_;
  // By value: what lies in a tier, or would. Results of ops on the host are in the first.
  std::vector<Copy> copies_;
};

double device_seconds(const Problem& problem, const plan::Schedule& schedule) {
  const Trace& trace = *problem.trace;
  double seconds = 0;
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    const std::int32_t chosen = schedule.chosen(make_id<OpId>(i));
    if (chosen < 0) {
      seconds += cost::op_seconds(trace, op, problem.machine);
      continue;
    }
    const Implementation& option = op.options[static_cast<std::size_t>(chosen)];
    if (!option.on_host) seconds += option.seconds;
  }
  return seconds;
}

}  // namespace

LowerBounds lower_bounds(const Problem& problem, const Plan& plan) {
  const plan::MemoryBounds memory = plan::memory_bounds(*problem.trace, problem.machine);
  const plan::Schedule schedule(*problem.trace, sim::with_known_names(problem, plan));
  LowerBounds bounds;
  bounds.working_set_bytes = memory.working_set_bytes;
  bounds.working_set_op = memory.working_set_op;
  bounds.compute_seconds = device_seconds(problem, schedule);
  bounds.transfer_seconds = Traffic(problem, plan, schedule).busiest_seconds();
  return bounds;
}

}  // namespace lowtide
