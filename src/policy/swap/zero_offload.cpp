// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Ren et al., ZeRO-Offload: democratizing billion-scale model training, USENIX ATC 2021.
//
// Gradients and optimizer states lie in host memory, parameters stay on the device. A gradient
// leaves as soon as the backward pass is through with it. Where the ops of the optimizer have an
// implementation for the host's processor (the paper's CPU Adam), they run there: the states never
// move, the parameters go over after their last use and come back updated by the end of the step.
// Where they have none, states and gradients stream in ahead of each op of the optimizer and out
// after it; between two such ops they stay while there is room.
//
// Where this departs from the paper: there the parameters on the device are the half-precision copy
// and their masters are states; a trace has whatever parameters the program has. The update is not
// delayed by a step, which would change what is computed. There is one device, so nothing is
// partitioned among several: the parts in which the optimizer's step is done are the trace's ops.
//
// Limits: activations stay, so that large ones set a floor. A fused optimizer is one op over
// all parameters, and what it reads must be there at once: streaming then saves memory in the
// forward and the backward pass only. Recorded steps have no implementations for the host; a plan
// that chooses one is for the simulator.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/factories.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/option_reader.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

constexpr TierId kHost{0};

class ZeroOffloadPlanner {
 public:
  ZeroOffloadPlanner(const Problem& problem, bool may_run_on_host)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        lives_on_host_(trace_.storages().size(), false),
        goes_there_(trace_.storages().size(), false),
        is_on_host_(trace_.ops().size(), false) {
    if (problem.machine.tiers.empty()) return;
    left_bytes_ = problem.machine.tiers.front().capacity_bytes;
    choose_storages();
    if (may_run_on_host) choose_ops();
    for (std::size_t i = 0; i < trace_.values().size(); ++i) follow(make_id<ValueId>(i));
    std::stable_sort(pauses_.begin(), pauses_.end(),
                     [&](const SwapDecision& a, const SwapDecision& b) {
                       return idle_seconds(a) < idle_seconds(b);
                     });
  }

  PlanOutcome plan() {
    GapDecisions all = decisions_;
    all.swaps.insert(all.swaps.end(), pauses_.begin(), pauses_.end());
    const WrittenPlan least = write(all);
    if (least.peak_bytes > problem_.budget_bytes) {
      return Refusal{.reason = base::concat("without gradients and states the step still takes ",
                                            base::format_bytes(least.peak_bytes)),
                     .smallest_budget_bytes = least.peak_bytes};
    }
    RoomBelow room(problem_.budget_bytes, least.tick_bytes, costs_);
    for (const SwapDecision& pause : pauses_) {
      const Tick last = std::min(pause.need - 1, lifetimes_.of(pause.value).dies);
      if (room(std::array{Presence{pause.value, pause.after + 1, last}})) continue;
      decisions_.swaps.push_back(pause);
    }
    fetch_ahead(problem_, clock_, std::ref(room), decisions_.swaps);
    for (SwapDecision& swap : decisions_.swaps) {
      swap.issue = std::max(swap.issue, after_host_reads(swap));
    }
    std::erase_if(decisions_.swaps, [&](const SwapDecision& swap) { return is_in_vain(swap); });
    WrittenPlan written = write(decisions_);
    LT_CHECK(written.peak_bytes <= problem_.budget_bytes,
             "what stays was counted, but the step takes ", written.peak_bytes);
    return finish_plan(problem_, "zero_offload", std::move(written));
  }

 private:
  Tick never() const { return lifetimes_.end() + 1; }

  // Gradients and states, for as long as host memory could hold them together.
  void choose_storages() {
    for (std::size_t i = 0; i < trace_.storages().size(); ++i) {
      const Storage& storage = trace_.storages()[i];
      const bool is_meant =
          storage.kind == StorageKind::kGradient || storage.kind == StorageKind::kState;
      if (!is_meant || storage.pinned || storage.bytes > left_bytes_) continue;
      left_bytes_ -= storage.bytes;
      lives_on_host_[i] = goes_there_[i] = true;
    }
  }

  void choose_ops() {
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      const auto op = make_id<OpId>(i);
      // What the first op of all reads could not be brought before it.
      if (trace_.ops()[i].phase != Phase::kOptimizer || lifetimes_.tick_of(op) == 0) continue;
      const std::int32_t implementation = fastest_on_host(trace_.ops()[i]);
      if (implementation < 0 || !can_bring(op)) continue;
      decisions_.on_host.push_back({op, implementation});
      is_on_host_[i] = true;
    }
  }

  std::int32_t fastest_on_host(const Op& op) const {
    std::int32_t best = -1;
    for (std::size_t i = 0; i < op.options.size(); ++i) {
      const Implementation& option = op.options[i];
      if (!option.on_host || !(option.bit_exact || problem_.allow_lossy)) continue;
      const bool is_better =
          best < 0 || option.seconds < op.options[static_cast<std::size_t>(best)].seconds;
      if (is_better) best = static_cast<std::int32_t>(i);
    }
    return best;
  }

  // Whether everything that the op uses can be in host memory, which is then set aside for it.
  bool can_bring(OpId op) {
    std::int64_t bytes = 0;
    std::vector<std::size_t> brought;
    for (const auto& uses : {trace_.reads(op), trace_.writes(op)}) {
      for (const Use& use : uses) {
        const std::size_t storage = trace_.value(use.value).storage.slot();
        if (trace_.storages()[storage].pinned) return false;
        if (goes_there_[storage]) continue;
        bytes += trace_.storages()[storage].bytes;
        brought.push_back(storage);
      }
    }
    if (bytes > left_bytes_) return false;
    left_bytes_ -= bytes;
    for (const std::size_t storage : brought) goes_there_[storage] = true;
    return true;
  }

  // Goes through a value's uses and has it where each of them needs it.
  void follow(ValueId value) {
    const StorageId storage = trace_.value(value).storage;
    if (!goes_there_[storage.slot()]) return;
    const trace::Lifetime& life = lifetimes_.of(value);
    const bool lives_there = lives_on_host_[storage.slot()];
    bool is_there = life.born < 0 ? lives_there : is_on_host_[op_slot(life.born)];
    if (life.born < 0 && lives_there) decisions_.starts.push_back({storage, kHost});
    // The last use on the device, which is where it leaves from; something must have run before.
    Tick left = lives_there ? life.born : std::max(life.born, 0);
    for (const Tick read : life.reads) {
      if (is_on_host_[op_slot(read)]) {
        is_there = true;
        continue;
      }
      if (is_there) swap(value, left, read);
      if (!is_there && lives_there) leave_between(value, left, read);
      is_there = false;
      left = read;
    }
    const bool ends_on_device = life.at_end && !lives_there;
    if (is_there && ends_on_device) {
      swap(value, left, lifetimes_.end());
    } else if (is_there || (life.at_end && lives_there)) {
      swap(value, left, never());
    } else if (lives_there && life.dies > left) {
      leave_between(value, left, never());
    }
  }

  void leave_between(ValueId value, Tick after, Tick need) {
    if (need <= after + 1) return;
    const bool is_pause = phase_at(after) == Phase::kOptimizer;
    const SwapDecision swap{value, kHost, after, need, need};
    (is_pause ? pauses_ : decisions_.swaps).push_back(swap);
  }

  // The first tick in which nothing on the host needs it there any more.
  Tick after_host_reads(const SwapDecision& swap) const {
    Tick first = swap.after + 1;
    for (const Tick read : lifetimes_.of(swap.value).reads) {
      if (read < swap.need && is_on_host_[op_slot(read)]) first = std::max(first, read + 1);
    }
    return first;
  }

  // There is room for it all the time: it would be back as soon as it has left.
  bool is_in_vain(const SwapDecision& swap) const {
    return swap.after >= 0 && swap.issue == swap.after + 1 && !is_on_host_[op_slot(swap.after)] &&
           lives_on_host_[trace_.value(swap.value).storage.slot()];
  }

  void swap(ValueId value, Tick after, Tick need) {
    decisions_.swaps.push_back({value, kHost, after, need, need});
  }

  std::size_t op_slot(Tick tick) const { return lifetimes_.op_at(tick).slot(); }
  Phase phase_at(Tick tick) const { return trace_.ops()[op_slot(tick)].phase; }
  double idle_seconds(const SwapDecision& swap) const {
    return clock_.start(std::min(swap.need, lifetimes_.end())) - clock_.end(swap.after);
  }

  WrittenPlan write(const GapDecisions& decisions) const {
    return write_moves(problem_, lifetimes_, costs_, decisions);
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  // By storage: gradients and states; and what else ops on the host use.
  std::vector<bool> lives_on_host_;
  std::vector<bool> goes_there_;
  std::vector<bool> is_on_host_;
  std::int64_t left_bytes_ = 0;
  GapDecisions decisions_;
  // Gaps after an op of the optimizer, over which values stay while there is room.
  std::vector<SwapDecision> pauses_;
};

class ZeroOffload final : public Policy {
 public:
  explicit ZeroOffload(bool may_run_on_host) : may_run_on_host_(may_run_on_host) {}
  PlanOutcome plan(const Problem& problem) const override {
    return ZeroOffloadPlanner(problem, may_run_on_host_).plan();
  }

 private:
  bool may_run_on_host_;
};

}  // namespace

std::unique_ptr<Policy> make_zero_offload(const PolicyOptions& options) {
  OptionReader reader("zero_offload", options);
  const bool may_run_on_host =
      reader.choice<bool>("optimizer", true, {{"auto", true}, {"device", false}});
  reader.finish();
  return std::make_unique<ZeroOffload>(may_run_on_host);
}

}  // namespace lowtide::policy
