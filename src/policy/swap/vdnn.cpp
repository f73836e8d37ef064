// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Rhu et al., vDNN: virtualized deep neural networks for scalable, memory-efficient neural network
// design, MICRO 2016.
//
// The input of a layer leaves for host memory when the forward pass has used it for the last time,
// and starts to come back when the backward pass begins with the layer above. `all` does so with
// every layer, `conv` with convolutions only, whose long times hide the copies best. Convolutions
// run by their quickest algorithm (p) or by the one with the least workspace (m). `dynamic` takes
// the first that fits of: nothing (p), conv (p), all (p), then conv and all, with less workspace
// for each layer that is too much (the paper's greedy phase), which comes down to all (m).
//
// Where this departs from the paper: an op is a layer, if one of its inputs is wanted again by the
// backward pass; the next layer does not wait for the copy, only whoever needs the room does.
//
// Limits: parameters, gradients and optimizer states stay, so that large ones set a floor; copies
// show where layers are shorter than they; nets without convolutions have `all` only. Recorded
// steps have no algorithms to choose from: theirs are the only ones. A plan that chooses any is for
// the simulator only.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/swap/layer_inputs.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// A copy back begins with the backward pass of the layer above, of those whose inputs were moved,
// or with the first of all.
GapDecisions move_all(const Problem& problem, const std::vector<SavedValue>& inputs) {
  const Tick backward = backward_start(*problem.trace, *problem.trace->lifetimes());
  GapDecisions decisions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tick need = inputs[i].first_backward;
    const Tick above = i + 1 < inputs.size() ? inputs[i + 1].first_backward : backward;
    const Tick issue = std::clamp(above, inputs[i].last_forward + 1, need);
    decisions.swaps.push_back({inputs[i].value, TierId{0}, inputs[i].last_forward, issue, need});
  }
  return decisions;
}

class Vdnn final : public Policy {
 public:
  Vdnn(std::vector<LayerSet> sets, std::optional<AlgorithmRule> rule)
      : sets_(std::move(sets)), rule_(rule) {}

  PlanOutcome plan(const Problem& problem) const override {
    const std::vector<LayerInput> inputs = layer_inputs(problem);
    const ConvolutionAlgorithms algorithms(problem);
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    for (const LayerWay& way : ways_to_try(sets_, rule_, !algorithms.ops().empty())) {
      const GapDecisions decisions = move_all(problem, inputs_of(way.set, inputs));
      auto written = write_gaps_by(way.rule, problem, algorithms, decisions, 0);
      LT_CHECK(written, "moved values come back without replays");
      if (written->peak_bytes <= problem.budget_bytes) {
        return finish_plan(problem, "vdnn", *std::move(written));
      }
      // With less workspace wherever it is too much, this is the peak with the least of all.
      least_bytes = std::min(least_bytes, written->peak_bytes);
    }
    return Refusal{.reason = base::concat("with all chosen layers' inputs moved the step takes ",
                                          base::format_bytes(least_bytes)),
                   .smallest_budget_bytes = least_bytes};
  }

 private:
  std::vector<LayerSet> sets_;
  std::optional<AlgorithmRule> rule_;
};

}  // namespace

std::unique_ptr<Policy> make_vdnn(const PolicyOptions& options) {
  OptionReader reader("vdnn", options);
  using Sets = std::vector<LayerSet>;
  const Sets dynamic = {LayerSet::kNone, LayerSet::kConv, LayerSet::kAll};
  Sets sets = reader.choice<Sets>(
      "layers", dynamic,
      {{"dynamic", dynamic}, {"conv", {LayerSet::kConv}}, {"all", {LayerSet::kAll}}});
  const std::optional<AlgorithmRule> rule = read_algorithm_rule(reader);
  reader.finish();
  return std::make_unique<Vdnn>(std::move(sets), rule);
}

}  // namespace lowtide::policy
