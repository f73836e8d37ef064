// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Rhu et al., vDNN: virtualized deep neural networks for scalable, memory-efficient neural network
// design, MICRO 2016.
//
// The input of a layer leaves for host memory when the forward pass has used it for the last time,
// and starts to come back when the backward pass begins with the layer above. `all` does so with
// every layer, `conv` with convolutions only, whose long times hide the copies best; `dynamic`
// takes the first that fits of: nothing, `conv`, `all`.
//
// Where this departs from the paper: an op is a layer, if one of its inputs is wanted again by the
// backward pass; the next layer does not wait for the copy, only whoever needs the room does. The
// paper also chooses the algorithms of convolutions, with more or less workspace: nothing here
// does, because recorded steps have no others to choose from.
//
// Limits: parameters, gradients and optimizer states stay, so that large ones set a floor; copies
// show where layers are shorter than they; nets without convolutions have `all` only.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

enum class Layers { kDynamic, kNone, kConv, kAll };

// The input of a layer, and the ticks between which it is not needed.
struct LayerInput {
  ValueId value;
  Tick last_forward;
  Tick first_backward;
  bool is_convolved;
};

bool is_convolution(const Op& op) { return op.name.find("conv") != std::string::npos; }

class Vdnn final : public Policy {
 public:
  explicit Vdnn(Layers layers) : layers_(layers) {}

  PlanOutcome plan(const Problem& problem) const override {
    const std::vector<LayerInput> inputs = find_inputs(problem);
    std::vector<Layers> ways = {layers_};
    if (layers_ == Layers::kDynamic) ways = {Layers::kNone, Layers::kConv, Layers::kAll};
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    for (const Layers way : ways) {
      WrittenPlan written = write(problem, chosen(inputs, way));
      if (written.peak_bytes <= problem.budget_bytes) {
        return finish_plan(problem, "vdnn", std::move(written));
      }
      least_bytes = std::min(least_bytes, written.peak_bytes);
    }
    return Refusal{.reason = base::concat("with all chosen layers' inputs moved the step takes ",
                                          base::format_bytes(least_bytes)),
                   .smallest_budget_bytes = least_bytes};
  }

 private:
  // In the order of the forward pass.
  static std::vector<LayerInput> find_inputs(const Problem& problem) {
    const Trace& trace = *problem.trace;
    const trace::Lifetimes& lifetimes = *trace.lifetimes();
    const std::vector<bool> may_move = storages_to_move(problem);
    std::vector<LayerInput> inputs;
    for (std::size_t i = 0; i < trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const Storage& storage = trace.storage_of(value);
      const bool is_feature_map =
          storage.kind == StorageKind::kActivation || storage.kind == StorageKind::kInput;
      if (!is_feature_map || !may_move[trace.value(value).storage.slot()]) continue;
      if (const auto input = input_of(trace, lifetimes, value)) inputs.push_back(*input);
    }
    std::stable_sort(inputs.begin(), inputs.end(), [](const LayerInput& a, const LayerInput& b) {
      return a.last_forward < b.last_forward;
    });
    return inputs;
  }

  static std::optional<LayerInput> input_of(const Trace& trace, const trace::Lifetimes& lifetimes,
                                            ValueId value) {
    LayerInput input = {value, -1, -1, false};
    for (const Tick read : lifetimes.of(value).reads) {
      const Op& op = trace.op(lifetimes.op_at(read));
      if (op.phase == Phase::kForward) {
        input.last_forward = read;
        input.is_convolved = input.is_convolved || is_convolution(op);
      } else if (op.phase == Phase::kBackward) {
        input.first_backward = read;
        break;
      }
    }
    const bool is_saved = input.last_forward >= 0 && input.first_backward > input.last_forward + 1;
    return is_saved ? std::optional(input) : std::nullopt;
  }

  static std::vector<LayerInput> chosen(const std::vector<LayerInput>& inputs, Layers way) {
    std::vector<LayerInput> result;
    if (way == Layers::kNone) return result;
    std::copy_if(
        inputs.begin(), inputs.end(), std::back_inserter(result),
        [&](const LayerInput& input) { return way == Layers::kAll || input.is_convolved; });
    return result;
  }

  // A copy back begins with the backward pass of the layer above, of those whose inputs were moved,
  // or with the first of all.
  static WrittenPlan write(const Problem& problem, const std::vector<LayerInput>& inputs) {
    const Trace& trace = *problem.trace;
    const trace::Lifetimes& lifetimes = *trace.lifetimes();
    const auto& sequence = lifetimes.sequence();
    const auto backward = static_cast<Tick>(
        std::find_if(sequence.begin(), sequence.end(),
                     [&](OpId op) { return trace.op(op).phase == Phase::kBackward; }) -
        sequence.begin());
    GapDecisions decisions;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tick need = inputs[i].first_backward;
      const Tick above = i + 1 < inputs.size() ? inputs[i + 1].first_backward : backward;
      const Tick issue = std::clamp(above, inputs[i].last_forward + 1, need);
      decisions.swaps.push_back({inputs[i].value, TierId{0}, inputs[i].last_forward, issue, need});
    }
    const cost::CostTable costs(trace, problem.machine);
    std::optional<WrittenPlan> written = write_gaps(problem, lifetimes, costs, decisions, 0);
    LT_CHECK(written, "moved values come back without replays");
    return *std::move(written);
  }

  Layers layers_;
};

}  // namespace

std::unique_ptr<Policy> make_vdnn(const PolicyOptions& options) {
  OptionReader reader("vdnn", options);
  const auto layers = reader.choice<Layers>(
      "layers", Layers::kDynamic,
      {{"dynamic", Layers::kDynamic}, {"conv", Layers::kConv}, {"all", Layers::kAll}});
  reader.finish();
  return std::make_unique<Vdnn>(layers);
}

}  // namespace lowtide::policy
