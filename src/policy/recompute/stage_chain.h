// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "plan/source_holds.h"
#include "policy/recompute/forward_pass.h"
#include "policy/recompute/staying_bytes.h"
#include "policy/stay_writer.h"
#include "solve/chain_reversal.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// The forward pass as a chain of stages, which the backward pass goes through in reverse, and back
// from a way through that chain to what is on the device when.
//
// A stage is what lies between two cuts. Its input is what crosses the cut before it. The way back
// through it begins with the first later op that reads what it used last, and nothing that a later
// stage did; what it made and that way back reads has to be saved, besides the input.
class StageChain {
 public:
  // At most so many stages, of about as many bytes each, cut where least crosses.
  StageChain(const Problem& problem, const cost::CostTable& costs, std::size_t most_stages);

  std::size_t size() const { return stages_.size(); }
  // With room in units of so many bytes, rounded to the nearest: errors of rounding up would add
  // up.
  solve::Chain in_units_of(std::int64_t bytes) const;

  // What is there when if the chain is gone through like this.
  StayDecisions stays(const std::vector<solve::ChainStep>& steps) const;

  // The parts of that: the forward pass without any keeping, and the steps that are taken right
  // before the way back through a stage, from `now` on (-1: in the forward pass).
  StayDecisions forward_stays() const;
  void add_steps(const std::vector<solve::ChainStep>& steps, trace::Tick now, std::size_t next_back,
                 std::vector<Stay>& stays) const;
  // Makes one of stays with nothing between them: what would go only to come back at once stays.
  static void join_neighbours(std::vector<Stay>& stays);

  // What crosses the cut before a stage; what it makes and its way back reads.
  std::span<const ValueId> inputs(std::size_t stage) const { return stages_[stage].inputs; }
  std::span<const ValueId> saved(std::size_t stage) const { return stages_[stage].saved; }
  // What it saves and those of its results that the next stage has as inputs.
  std::vector<ValueId> saved_and_outputs(std::size_t stage) const;
  // The ticks of the way back through it: the first, and the one after the last.
  trace::Tick back_start(std::size_t stage) const { return stages_[stage].back_start; }
  trace::Tick back_end(std::size_t stage) const { return stages_[stage].back_end; }
  // How long an input is needed so that its stage can be gone through again, and back.
  trace::Tick input_until(std::size_t stage, ValueId value) const;
  // The last tick of the forward pass that uses a value of a stage.
  trace::Tick last_forward(ValueId value) const { return last_forward_[value.slot()]; }
  // Seconds of the forward pass.
  double seconds(std::size_t stage) const;

 private:
  struct Stage {
    // The first tick, and the tick after the last.
    trace::Tick begin = 0;
    trace::Tick end = 0;
    std::vector<ValueId> inputs{};
    std::vector<ValueId> saved{};
    // The ticks of the backward pass that belong to it; the second one does not.
    trace::Tick back_start = 0;
    trace::Tick back_end = 0;
  };
  // What going through a stage once more takes, for some results.
  struct Rerun {
    double seconds = 0;
    std::int64_t peak_bytes = 0;
  };

  std::vector<trace::Tick> choose_cuts(std::size_t most_stages) const;
  void find_stages(const std::vector<trace::Tick>& cuts);
  void find_backward();
  void find_saved();
  std::size_t stage_at(trace::Tick tick) const;
  std::int32_t stage_of(ValueId value) const { return stage_of_[value.slot()]; }
  bool is_made_in(ValueId value, std::size_t stage) const {
    return stage_of(value) == static_cast<std::int32_t>(stage);
  }
  Rerun rerun(const Stage& stage, const std::vector<ValueId>& results) const;
  std::vector<ValueId> outputs(std::size_t stage) const;
  std::int64_t fullest_back(const Stage& stage) const;
  std::int64_t others_before_back(std::size_t stage) const;

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  std::vector<plan::ExtendedLife> holds_;
  ForwardPass pass_;
  std::vector<Stage> stages_;
  // By value: the stage that makes it; -1 for what never leaves.
  std::vector<std::int32_t> stage_of_;
  std::vector<trace::Tick> last_forward_;
  // Of what never leaves.
  std::optional<StayingBytes> others_;
};

}  // namespace lowtide::policy
