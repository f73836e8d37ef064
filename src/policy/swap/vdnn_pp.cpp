// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Shriram et al., Dynamic memory management for GPU-based training of deep neural networks
// (vDNN++), IPDPS 2019.
//
// vDNN without its waits at the ends of layers: the bytes of a layer's input are free when its copy
// has ended, whoever allocates waits for that only if there is no other room, and copies back are
// ordered so that they are there in time. It also moves less: the inputs of every other convolution
// come between nothing and all convolutions.
//
// Here: of the chosen inputs those leave that were used longest ago, as many as the budget asks for
// (moves=needed; all of them with moves=all, as published). The way back is planned from the end of
// the step: each copy gets the latest time on the link by which it is there when it is needed, and
// begins then, or as soon after that as there is room.
//
// Where this departs from the paper: an op is a layer as in vDNN here; there the copy back begins
// with the layer above as in vDNN, and only its wait is another. The paper's orders of allocation
// against fragmentation and its compression of pinned host memory are not here: plans say nothing
// of addresses that eager torch could honour, nor of what the host does with its copies.
//
// Limits: those of vDNN. How long ops take is that of the plain step; copies that show make later
// ones begin too early.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/swap/fetch_schedule.h"
#include "policy/swap/layer_inputs.h"

namespace lowtide::policy {
namespace {

struct VdnnPpOptions {
  std::vector<LayerSet> sets;
  std::optional<AlgorithmRule> rule;
  bool moves_all = false;
  // A copy back begins so many times its length ahead.
  double lead = 1;
};

class Planner {
 public:
  Planner(const Problem& problem, const VdnnPpOptions& options)
      : problem_(problem),
        lifetimes_(*problem.trace->lifetimes()),
        options_(options),
        inputs_(layer_inputs(problem)),
        algorithms_(problem) {}

  PlanOutcome plan() const {
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    for (const LayerWay& way : ways_to_try(options_.sets, options_.rule, has_choice())) {
      auto written = write_gaps_by(way.rule, problem_, algorithms_, decide(way), 0);
      LT_CHECK(written, "moved values come back without replays");
      if (written->peak_bytes <= problem_.budget_bytes) {
        return finish_plan(problem_, "vdnn_pp", *std::move(written));
      }
      least_bytes = std::min(least_bytes, written->peak_bytes);
    }
    return Refusal{.reason = base::concat("with all chosen layers' inputs moved the step takes ",
                                          base::format_bytes(least_bytes)),
                   .smallest_budget_bytes = least_bytes};
  }

 private:
  bool has_choice() const { return !algorithms_.ops().empty(); }

  GapDecisions decide(const LayerWay& way) const {
    const cost::CostTable costs = algorithms_.costs(
        way.rule == AlgorithmRule::kQuickest ? algorithms_.quickest() : algorithms_.leanest());
    auto plain = weigh_gaps(problem_, lifetimes_, costs, {}, 0);
    LT_CHECK(plain, "the plain step can be weighed");
    GapDecisions decisions;
    // No budget at all has everything leave.
    decisions.swaps =
        move_least_recently_used(inputs_of(way.set, inputs_), costs,
                                 options_.moves_all ? 0 : problem_.budget_bytes, plain->tick_bytes);
    fetch_in_time(problem_, costs, options_.lead, decisions.swaps, plain->tick_bytes);
    return decisions;
  }

  const Problem& problem_;
  const trace::Lifetimes& lifetimes_;
  const VdnnPpOptions& options_;
  const std::vector<LayerInput> inputs_;
  const ConvolutionAlgorithms algorithms_;
};

class VdnnPp final : public Policy {
 public:
  explicit VdnnPp(VdnnPpOptions options) : options_(std::move(options)) {}

  PlanOutcome plan(const Problem& problem) const override {
    return Planner(problem, options_).plan();
  }

 private:
  VdnnPpOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_vdnn_pp(const PolicyOptions& options) {
  OptionReader reader("vdnn_pp", options);
  using Sets = std::vector<LayerSet>;
  const Sets dynamic = {LayerSet::kNone, LayerSet::kAlternateConv, LayerSet::kConv, LayerSet::kAll};
  VdnnPpOptions parsed;
  parsed.sets = reader.choice<Sets>("layers", dynamic,
                                    {{"dynamic", dynamic},
                                     {"alternate", {LayerSet::kAlternateConv}},
                                     {"conv", {LayerSet::kConv}},
                                     {"all", {LayerSet::kAll}}});
  parsed.rule = read_algorithm_rule(reader);
  parsed.moves_all =
      reader.choice<bool>("moves", parsed.moves_all, {{"needed", false}, {"all", true}});
  parsed.lead = reader.number("lead", parsed.lead, 0, 100);
  reader.finish();
  return std::make_unique<VdnnPp>(std::move(parsed));
}

}  // namespace lowtide::policy
