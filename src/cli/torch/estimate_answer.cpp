// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/estimate_answer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include <c10/util/Exception.h>

#include "base/check.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "estimate/onnx_graph.h"
#include "estimate/torch/onnx_step.h"
#include "estimate/torch/zoo_step.h"
#include "train/largest.h"
#include "zoo/catalogue.h"

namespace lowtide::cli {
namespace {

estimate::StatesMade states_of(const EstimateChoice& choice) {
  return choice.states == "start" ? estimate::StatesMade::kAtStart
                                  : estimate::StatesMade::kInFirstUpdate;
}

bool is_zoo_model(const std::string& name) {
  const auto& all = zoo::catalogue();
  return std::any_of(all.begin(), all.end(),
                     [&](const zoo::ModelInfo& info) { return info.name == name; });
}

// Makes estimates of what was named on the command line.
class Estimator {
 public:
  // The graph is null for a model of the zoo. Warnings are added to `warnings`, each once.
  Estimator(const EstimateChoice& choice, const EstimatePlace& place,
            const estimate::OnnxGraph* graph, std::set<std::string>& warnings)
      : choice_(choice), place_(place), graph_(graph), warnings_(warnings) {}

  StepEstimate of(std::int64_t batch, const std::string& amp) const {
    const estimate::StepOptions options = {
        .batch = batch,
        .optimizer = choice_.optimizer,
        .has_bf16 = amp == "bf16",
        .target = place_.gpu ? estimate::Target::kGpu : estimate::Target::kCpu};
    estimate::DryStep dry = dry_step(options);
    const estimate::WalkOptions walk = {
        .states = states_of(choice_),
        .early_workspace_bytes = std::move(dry.early_workspace_bytes)};
    StepEstimate step =
        estimate_step(std::make_shared<const Trace>(std::move(dry.trace)), place_, walk);
    step.batch = batch;
    step.optimizer = choice_.optimizer;
    step.amp = amp;
    return step;
  }

  // The largest batch that fits as it is.
  std::int64_t largest(const std::string& amp) const {
    EstimatePlace unasked = place_;
    unasked.budget_bytes = 0;
    const Estimator plain(choice_, unasked, graph_, warnings_);
    return train::largest_that_fits(1, kMostEstimatedBatch, [&](std::int64_t batch) {
      const StepEstimate step = plain.of(batch, amp);
      const std::int64_t taken =
          place_.gpu ? step.reserved_bytes() : step.peaks.steady.allocated_bytes;
      return taken <= place_.budget_bytes;
    });
  }

 private:
  estimate::DryStep dry_step(const estimate::StepOptions& options) const {
    if (graph_ == nullptr) return estimate::zoo_step(choice_.subject, choice_.model, options);
    const auto& model = choice_.model;
    estimate::OnnxStep step =
        estimate::onnx_step(*graph_, options, model.size ? model.size : model.context);
    warnings_.insert(step.warnings.begin(), step.warnings.end());
    return std::move(step.step);
  }

  const EstimateChoice& choice_;
  const EstimatePlace& place_;
  const estimate::OnnxGraph* graph_;
  std::set<std::string>& warnings_;
};

EstimateAnswer answer_for_model(const EstimateChoice& choice, const EstimatePlace& place,
                                const estimate::OnnxGraph* graph) {
  EstimateAnswer answer;
  const Estimator estimator(choice, place, graph, answer.warnings);
  for (const std::string& amp : choice.amps) {
    for (const std::int64_t batch : choice.batches) {
      answer.steps.push_back(estimator.of(batch, amp));
    }
    if (choice.wants_largest) answer.largest.emplace_back(amp, estimator.largest(amp));
  }
  return answer;
}

EstimateAnswer answer_for_zoo(const EstimateChoice& choice, const EstimatePlace& place) {
  EstimateAnswer answer = answer_for_model(choice, place, nullptr);
  const auto size = estimate::transformer_size(choice.subject, choice.model, choice.batches.back());
  if (size) answer.formulas = estimate::transformer_figures(*size);
  answer.counted = estimate::counted_figures(*answer.steps.back().trace);
  return answer;
}

// Whatever it is, it is estimated for a device and put somewhere.
void require_meant(const EstimateChoice& choice, const std::set<std::string>& more,
                   std::string_view subject) {
  static const std::set<std::string> always = {"--device", "--gpu",    "--budget", "--states",
                                               "--json",   "--output", "--largest"};
  for (const std::string& option : choice.given) {
    if (always.contains(option) || more.contains(option)) continue;
    throw UsageError(base::concat(option, " means nothing for ", subject, "; leave it out"));
  }
}

EstimateAnswer answer_for_onnx(const EstimateChoice& choice, const EstimatePlace& place,
                               Console& console) {
  require_meant(choice, {"--batch", "--optimizer", "--amp", "--size", "--context"},
                "an ONNX file, whose sizes stand in it");
  if (choice.model.size && choice.model.context) {
    throw UsageError("--size and --context both name the axes that the file leaves open");
  }
  const std::string file =
      read_input(choice.subject, "the model", console.in, estimate::kOnnxFileBytes);
  try {
    const estimate::OnnxGraph graph = estimate::read_onnx(file);
    return answer_for_model(choice, place, &graph);
  } catch (const InvalidInput& error) {
    throw InvalidInput(choice.subject + ": " + error.what());
  }
}

EstimateAnswer answer_for_trace(const EstimateChoice& choice, const EstimatePlace& place,
                                Console& console) {
  require_meant(choice, {}, "a recorded step, which is as it was recorded");
  if (choice.wants_largest) {
    throw UsageError("--largest needs a model: a trace has the one batch it was recorded with");
  }
  StepEstimate step = estimate_step(load_trace(choice.subject, console.in), place,
                                    {.states = states_of(choice), .early_workspace_bytes = {}});
  step.optimizer = "as traced";
  step.amp = "as traced";
  EstimateAnswer answer;
  answer.steps.push_back(std::move(step));
  return answer;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

EstimateAnswer estimate_answer(const EstimateChoice& choice, const EstimatePlace& place,
                               Console& console) {
  try {
    if (choice.subject.ends_with(".onnx")) return answer_for_onnx(choice, place, console);
    std::error_code error;  // what cannot even be looked at is no file for us
    const bool is_file =
        !is_zoo_model(choice.subject) && std::filesystem::exists(choice.subject, error);
    return is_file ? answer_for_trace(choice, place, console) : answer_for_zoo(choice, place);
  } catch (const c10::Error& error) {
    throw Error(base::concat("torch refuses: ", first_line(error.what_without_backtrace())));
  }
}

}  // namespace lowtide::cli
