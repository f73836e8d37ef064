// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, Optimal checkpointing for heterogeneous
// chains: how to train deep neural networks with limited memory, 2019 (the tool is Rotor).
//
// The forward pass is a chain of stages. Dynamic programming over (first stage, last stage, memory)
// finds the cheapest way through it and back: either the first stage saves all that its backward
// pass needs, or the pass goes on to a stage whose input is kept, and what lies before is gone
// through again later. Memory is counted in slots, about 500 of them, as in the paper.
//
// Where this departs from the paper. Stages are what lies between the places of the forward pass
// that fewest values cross, so that nets with skips are chains too: what several inputs share
// counts once. A way through the chain is written down with only those replays that something
// needs, and what it then takes in truth is measured; the memory given to the programme is chosen
// so that the truth fits.
//
// Limits: optimal for chains and as far as slots and the number of stages allow. What a net with
// long skips keeps across many stages is kept as a whole. Nothing is moved.
#include <algorithm>
#include <limits>

#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"
#include "policy/recompute/room_search.h"
#include "policy/recompute/stage_chain.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

struct RotorOptions {
  std::int64_t stages = 64;
  std::int64_t slots = 500;
};

PlanOutcome plan_once(const Problem& problem, const RotorOptions& options) {
  const Trace& trace = *problem.trace;
  const std::int64_t plain = plan::memory_bounds(trace, problem.machine).plain_peak_bytes;
  if (plain <= problem.budget_bytes) return finish_plan(problem, "rotor", {});
  const cost::CostTable costs(trace, problem.machine);
  const StageChain chain(problem, costs, static_cast<std::size_t>(options.stages));
  // Slots of the plain peak and not of the budget, so that the table serves every budget.
  const std::int64_t slot_bytes =
      std::max<std::int64_t>(1, (plain + options.slots - 1) / options.slots);
  const solve::ChainReversal reversal(chain.in_units_of(slot_bytes),
                                      static_cast<std::int32_t>(options.slots));
  RoomSearch search;
  search.policy = "rotor";
  search.plain_peak_bytes = plain;
  double last_cost = std::numeric_limits<double>::infinity();
  for (std::int32_t room = 0; room <= reversal.most_room(); ++room) {
    if (reversal.cost(room) >= last_cost) continue;
    last_cost = reversal.cost(room);
    search.rooms.push_back(room);
  }
  search.write = [&](std::int32_t room) {
    const auto max_replays = 64 * static_cast<std::int64_t>(trace.ops().size()) + 1000;
    return write_stays(trace, *trace.lifetimes(), chain.stays(reversal.steps(room)), max_replays);
  };
  search.cost = [&](const Plan& plan) {
    double seconds = 0;
    for (const Action& action : plan.actions) {
      if (const auto* run = std::get_if<Run>(&action)) seconds += costs.op(run->op);
    }
    return seconds;
  };
  return search_rooms(problem, search);
}

class Rotor final : public Policy {
 public:
  explicit Rotor(const RotorOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    return plan_or_grant(problem, [&](const Problem& p) { return plan_once(p, options_); });
  }

 private:
  RotorOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_rotor(const PolicyOptions& options) {
  OptionReader reader("rotor", options);
  RotorOptions parsed;
  parsed.stages = reader.integer("stages", parsed.stages, 1, 512);
  parsed.slots = reader.integer("slots", parsed.slots, 10, 10'000);
  reader.finish();
  return std::make_unique<Rotor>(parsed);
}

}  // namespace lowtide::policy
