// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/estimate_answer.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <c10/util/Exception.h>

#include "base/check.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_checks.h"
#include "estimate/onnx_axes.h"
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

struct OnnxFile {
  estimate::OnnxGraph graph;
  estimate::AxisSizes axes;
};

// Makes estimates of what was named on the command line.
class Estimator {
 public:
  // The file is null for a model of the zoo. Warnings are added to `warnings`, each once.
  Estimator(const EstimateChoice& choice, const EstimatePlace& place, const OnnxFile* file,
            std::set<std::string>& warnings)
      : choice_(choice), place_(place), file_(file), warnings_(warnings) {}

  StepEstimate of(std::int64_t batch, const std::string& amp) const {
    const estimate::StepOptions options = {
        .batch = batch,
        .optimizer = choice_.optimizer,
        .has_bf16 = amp == "bf16",
        .target = place_.gpu ? estimate::Target{place_.gpu->architecture} : estimate::Target::kCpu};
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

  // The largest batch that fits as it is, with the margin beside it; 0: none does.
  std::int64_t largest(const std::string& amp) const {
    EstimatePlace unasked = place_;
    unasked.budget_bytes = 0;
    const Estimator plain(choice_, unasked, file_, warnings_);
    return train::largest_that_fits(1, kMostEstimatedBatch, [&](std::int64_t batch) {
      return plain.of(batch, amp).fits_with_margin(place_);
    });
  }

 private:
  estimate::DryStep dry_step(const estimate::StepOptions& options) const {
    if (file_ == nullptr) return estimate::zoo_step(choice_.subject, choice_.model, options);
    estimate::OnnxStep step = estimate::onnx_step(file_->graph, options, file_->axes);
    warnings_.insert(step.warnings.begin(), step.warnings.end());
    return std::move(step.step);
  }

  const EstimateChoice& choice_;
  const EstimatePlace& place_;
  const OnnxFile* file_;
  std::set<std::string>& warnings_;
};

EstimateAnswer answer_for_model(const EstimateChoice& choice, const EstimatePlace& place,
                                const OnnxFile* file) {
  EstimateAnswer answer;
  const Estimator estimator(choice, place, file, answer.warnings);
  for (const std::string& amp : choice.amps) {
    for (const std::int64_t batch : choice.batches) {
      answer.steps.push_back(estimator.of(batch, amp));
    }
    if (choice.wants_largest) answer.largest.emplace_back(amp, estimator.largest(amp));
  }
  return answer;
}

EstimateAnswer answer_for_zoo(const EstimateChoice& choice, const EstimatePlace& place) {
  if (!choice.axes.empty()) throw UsageError("--axis is for ONNX files; leave it out");
  EstimateAnswer answer = answer_for_model(choice, place, nullptr);
  const auto size = estimate::transformer_size(choice.subject, choice.model, choice.batches.back());
  if (!size) return answer;
  answer.formulas = estimate::transformer_figures(*size);
  answer.counted = estimate::counted_figures(*answer.steps.back().trace, size->middle_layer);
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

// "seq=128": which axis, and how long.
std::pair<std::string, std::int64_t> axis_of(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0) {
    throw UsageError(base::concat("--axis: not a name and a size, such as seq=128: '", text, "'"));
  }
  std::string size = text.substr(sign + 1);
  if (const std::string fault = whole_number(1)(size); !fault.empty()) {
    throw UsageError(base::concat("--axis: ", fault));
  }
  return {text.substr(0, sign), std::stoll(size)};
}

// Which of the axes that the file leaves open are as long as the user says.
std::map<std::string, std::int64_t> named_axes(const EstimateChoice& choice,
                                               const estimate::OpenAxes& open) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : choice.axes) {
    const auto [name, size] = axis_of(text);
    if (name == open.batch) {
      throw UsageError(base::concat("--axis: '", name, "' is the batch; name it with --batch"));
    }
    if (std::find(open.others.begin(), open.others.end(), name) == open.others.end()) {
      throw UsageError(base::concat(
          "--axis: the file has no axis '", name, "'; ",
          open.others.empty() ? "it names none" : "it has " + base::join(open.others)));
    }
    if (!sizes.emplace(name, size).second) {
      throw UsageError(base::concat("--axis names '", name, "' twice"));
    }
  }
  return sizes;
}

OnnxFile onnx_file(const EstimateChoice& choice, std::string_view bytes) {
  OnnxFile file{estimate::read_onnx(bytes), {}};
  file.axes.named = named_axes(choice, estimate::open_axes_of(file.graph));
  file.axes.others = choice.model.size ? choice.model.size : choice.model.context;
  return file;
}

EstimateAnswer answer_for_onnx(const EstimateChoice& choice, const EstimatePlace& place,
                               Console& console) {
  require_meant(choice, {"--batch", "--optimizer", "--amp", "--size", "--context", "--axis"},
                "an ONNX file, whose sizes stand in it");
  if (choice.model.size && choice.model.context) {
    throw UsageError("--size and --context both name the axes that the file leaves open");
  }
  const std::string bytes =
      read_input(choice.subject, "the model", console.in, estimate::kOnnxFileBytes);
  try {
    const OnnxFile file = onnx_file(choice, bytes);
    return answer_for_model(choice, place, &file);
  } catch (const UsageError&) {
    throw;
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
