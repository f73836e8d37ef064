// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Beaumont, Eyraud-Dubois and Shilova, Efficient combination of rematerialization and offloading
// for training DNNs, NeurIPS 2021 (POFO).
//
// The forward pass is a chain of stages, as in Rotor. Each stage saves what its backward pass needs
// on the device, or saves it and has it moved to the host, or belongs to a row of stages that are
// gone through again when the backward pass comes to them, by Rotor's programme, from an input that
// is kept on the device or moved. Dynamic programming over (stage, memory, copies that wait for the
// link) finds the cheapest way, in which the link is never further behind than there is memory for.
//
// Where this departs from the paper: the state is coarse (slots of memory, steps of waiting
// copies), and the way back is taken to wait for the same copies as the way forwards, which is on
// the safe side, as the backward pass takes longer. As with Rotor, the memory given to the
// programme is chosen so that the plan as written fits; of those that fit, the simulator picks the
// quickest. Copies back begin as late as the link allows.
//
// Limits: chains; a value that several stages need is moved only if all of them have theirs moved,
// and one that the program lets go of early stays. Parameters and optimizer states stay.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cost/op_cost.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/option_reader.h"
#include "policy/recompute/room_search.h"
#include "policy/recompute/stage_chain.h"
#include "policy/smallest_budget.h"
#include "policy/storages_to_move.h"
#include "sim/simulation.h"
#include "solve/chain_offload.h"

namespace lowtide::policy {
namespace {

using trace::Tick;
using Kind = solve::OffloadPart::Kind;

constexpr double kNever = std::numeric_limits<double>::infinity();

struct PofoOptions {
  std::int64_t stages = 32;
  std::int64_t slots = 150;
  std::int64_t backlog = 32;
};

// All that a value is needed for after the forward pass, if that is to have it from there.
struct Role {
  Tick need = 0;
  Tick until = 0;
  bool is_away = true;
};

class Planner {
 public:
  Planner(const Problem& problem, const PofoOptions& options, std::int64_t plain_peak_bytes)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        may_move_(storages_to_move(problem)),
        options_(options),
        plain_peak_bytes_(plain_peak_bytes),
        chain_(problem, costs_, static_cast<std::size_t>(options.stages)) {}

  PlanOutcome plan() {
    const std::int64_t slot_bytes =
        std::max<std::int64_t>(1, (plain_peak_bytes_ + options_.slots - 1) / options_.slots);
    const solve::Chain chain = chain_.in_units_of(slot_bytes);
    const solve::ChainReversal again(chain, static_cast<std::int32_t>(options_.slots));
    const solve::Offload offload = copies(slot_bytes);
    const solve::ChainOffload ways(chain, again, offload);
    RoomSearch search;
    search.policy = "pofo";
    search.plain_peak_bytes = plain_peak_bytes_;
    double last_cost = kNever;
    for (std::int32_t room = 0; room <= again.most_room(); ++room) {
      if (ways.cost(room) >= last_cost) continue;
      last_cost = ways.cost(room);
      search.rooms.push_back(room);
    }
    search.write = [&](std::int32_t room) { return write(ways.parts(room), again); };
    search.cost = [&](const Plan& plan) { return sim::simulated_seconds(problem_, plan); };
    return search_rooms(problem_, search);
  }

 private:
  bool may_move(ValueId value) const { return may_move_[trace_.value(value).storage.slot()]; }

  // Infinite if one of them may not be moved.
  double copy_seconds(std::span<const ValueId> values) const {
    double seconds = 0;
    for (const ValueId value : values) {
      if (!may_move(value)) return kNever;
      seconds +=
          cost::write_seconds(problem_.machine.tiers.front(), trace_.storage_of(value).bytes);
    }
    return seconds;
  }

  solve::Offload copies(std::int64_t slot_bytes) const {
    solve::Offload offload;
    double forward = 0;
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      offload.input_seconds.push_back(copy_seconds(chain_.inputs(i)));
      offload.saved_seconds.push_back(copy_seconds(chain_.saved_and_outputs(i)));
      offload.stage_seconds.push_back(chain_.seconds(i));
      forward += chain_.seconds(i);
    }
    // The copies that wait come to half of the forward pass at most.
    offload.most_backlog = static_cast<std::int32_t>(options_.backlog);
    offload.backlog_seconds =
        std::max(1e-12, forward / (2 * static_cast<double>(options_.backlog)));
    if (!problem_.machine.tiers.empty()) {
      offload.room_per_second =
          problem_.machine.tiers.front().write_bytes_per_second / static_cast<double>(slot_bytes);
    }
    return offload;
  }

  std::optional<std::vector<Action>> write(const std::vector<solve::OffloadPart>& parts,
                                           const solve::ChainReversal& again) const {
    StayDecisions decisions = chain_.forward_stays();
    std::map<ValueId, Role> roles;
    bool input_away = false;
    for (const solve::OffloadPart& part : parts) {
      const auto first = static_cast<std::size_t>(part.first);
      const auto last = static_cast<std::size_t>(part.last);
      if (part.kind == Kind::kAgain) {
        const Tick start = chain_.back_start(last);
        for (const ValueId value : chain_.inputs(first)) {
          add(roles, value, {start, std::max(start, chain_.input_until(first, value)), input_away});
        }
        chain_.add_steps(again.steps(first, last, part.room), start, last, decisions.stays);
        input_away = part.next_input_away;
      } else {
        for (const ValueId value : chain_.inputs(first)) {
          add_reads(roles, value, chain_.back_start(first), input_away, chain_.back_end(first));
        }
        input_away = part.kind == Kind::kSaveAway;
        for (const ValueId value : chain_.saved(first)) add_reads(roles, value, 0, input_away);
      }
    }
    settle(roles, decisions);
    StageChain::join_neighbours(decisions.stays);
    const auto max_replays = 64 * static_cast<std::int64_t>(trace_.ops().size()) + 1000;
    return write_stays(trace_, lifetimes_, decisions, max_replays);
  }

  // It is needed by those of its later reads that lie between two ticks.
  void add_reads(std::map<ValueId, Role>& roles, ValueId value, Tick from, bool is_away,
                 Tick end = std::numeric_limits<Tick>::max()) const {
    const auto& reads = lifetimes_.of(value).reads;
    const Tick after = std::max(from, chain_.last_forward(value) + 1);
    const auto first = std::lower_bound(reads.begin(), reads.end(), after);
    const auto last = std::lower_bound(first, reads.end(), end);
    if (first == last) return;
    // What was put away already comes back for this read and does not stay for it.
    const auto known = roles.find(value);
    const bool was_away = known != roles.end() && known->second.is_away;
    add(roles, value, {*first, *(last - 1), is_away || was_away});
  }

  static void add(std::map<ValueId, Role>& roles, ValueId value, const Role& role) {
    const auto [known, is_new] = roles.emplace(value, role);
    if (is_new) return;
    known->second.need = std::min(known->second.need, role.need);
    known->second.until = std::max(known->second.until, role.until);
    known->second.is_away = known->second.is_away && role.is_away;
  }

  void settle(const std::map<ValueId, Role>& roles, StayDecisions& decisions) const {
    for (const auto& [value, role] : roles) {
      const Tick after = chain_.last_forward(value);
      const bool moves = role.is_away && may_move(value) && role.need > after + 1 &&
                         lifetimes_.of(value).dies >= role.need;
      decisions.stays.push_back({value, moves ? role.need : lifetimes_.of(value).born, role.until});
      if (moves) decisions.swaps.push_back({value, TierId{0}, after, role.need, role.need});
    }
    fetch_ahead(decisions.swaps);
  }

  // The link gets to them in the order of their needs; from the last one back, each begins as late
  // as it can.
  void fetch_ahead(std::vector<SwapDecision>& swaps) const {
    std::stable_sort(swaps.begin(), swaps.end(),
                     [](const SwapDecision& a, const SwapDecision& b) { return a.need > b.need; });
    double free_until = kNever;
    for (SwapDecision& swap : swaps) {
      const double end = std::min(free_until, clock_.start(swap.need));
      const double begin = end - cost::read_seconds(problem_.machine.tiers.front(),
                                                    trace_.storage_of(swap.value).bytes);
      swap.issue = std::clamp(clock_.last_started_by(begin), swap.after + 1, swap.need);
      free_until = begin;
    }
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  const std::vector<bool> may_move_;
  const PofoOptions& options_;
  const std::int64_t plain_peak_bytes_;
  const StageChain chain_;
};

class Pofo final : public Policy {
 public:
  explicit Pofo(const PofoOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    return plan_or_grant(problem, [&](const Problem& p) -> PlanOutcome {
      const std::int64_t plain = plan::memory_bounds(*p.trace, p.machine).plain_peak_bytes;
      if (plain <= p.budget_bytes) return finish_plan(p, "pofo", {});
      return Planner(p, options_, plain).plan();
    });
  }

 private:
  PofoOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_pofo(const PolicyOptions& options) {
  OptionReader reader("pofo", options);
  PofoOptions parsed;
  parsed.stages = reader.integer("stages", parsed.stages, 1, 256);
  parsed.slots = reader.integer("slots", parsed.slots, 10, 2000);
  parsed.backlog = reader.integer("backlog", parsed.backlog, 1, 1000);
  reader.finish();
  return std::make_unique<Pofo>(parsed);
}

}  // namespace lowtide::policy
