// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "cli/estimate_report.h"
#include "cli/inputs.h"
#include "cli/option_checks.h"
#include "cli/torch/run_options.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "estimate/onnx_graph.h"
#include "estimate/torch/onnx_step.h"
#include "estimate/torch/zoo_step.h"
#include "estimate/transformer_formulas.h"
#include "trace/json.h"
#include "trace/text.h"
#include "train/largest.h"
#include "train/training.h"
#include "zoo/catalogue.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide estimate resnet50 --batch 32,64,128 --gpu rtx4090\n"
    "  lowtide estimate gpt2_medium --batch 8 --optimizer adamw --amp off,bf16 --budget 16GiB\n"
    "  lowtide estimate gpt --layers 48 --width 1600 --heads 25 --largest --gpu a100-80\n"
    "  lowtide estimate model.onnx --batch 16 --optimizer adam\n"
    "  lowtide estimate step.trace --gpu a100-40          a step that 'lowtide profile' recorded\n"
    "\nNothing is trained and no GPU is needed: the model's step is run on shapes alone. If it "
    "does "
    "not\n"
    "fit, it is planned, and the exit code is 3 if no plan fits either. The card is an H200 unless "
    "--gpu\n"
    "names another; --device cpu estimates what torch's CPU allocator would hold.";

struct EstimateChoice {
  std::string subject;
  zoo::ModelOptions model;
  std::vector<std::int64_t> batches = {32};
  std::string optimizer = "sgd";
  std::vector<std::string> amps = {"off"};
  std::string device = "gpu";
  std::string gpu;
  std::string budget;
  std::string output;
  bool wants_largest = false;
  bool json = false;
};

// The largest batch that is looked for.
constexpr std::int64_t kMostBatch = 1 << 20;

EstimatePlace place_of(const EstimateChoice& choice) {
  EstimatePlace place;
  if (choice.device == "cpu" && !choice.gpu.empty()) {
    throw UsageError("--gpu names a card, but --device is cpu; leave one of them out");
  }
  if (choice.device == "gpu") {
    place.gpu = estimate::gpu_named(choice.gpu.empty() ? "h200" : choice.gpu);
  }
  if (!choice.budget.empty()) {
    place.budget_bytes = base::parse_bytes(choice.budget);
    if (place.budget_bytes < 1) throw UsageError("--budget: must be more than nothing");
  } else if (!choice.gpu.empty()) {
    place.budget_bytes = place.gpu->memory_bytes - estimate::kContextBytes;
  }
  return place;
}

std::string trace_text(const Trace& trace, const std::string& path) {
  return path.ends_with(".json") ? trace::print_json(trace) : trace::print_text(trace);
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
    StepEstimate step = estimate_step(std::make_shared<const Trace>(trace_of(options)), place_);
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
    return train::largest_that_fits(1, kMostBatch, [&](std::int64_t batch) {
      const StepEstimate step = plain.of(batch, amp);
      const std::int64_t taken =
          place_.gpu ? step.reserved_bytes() : step.peaks.steady.allocated_bytes;
      return taken <= place_.budget_bytes;
    });
  }

 private:
  Trace trace_of(const estimate::StepOptions& options) const {
    if (graph_ == nullptr) return estimate::zoo_step(choice_.subject, choice_.model, options);
    const auto& model = choice_.model;
    estimate::OnnxStep step =
        estimate::onnx_step(*graph_, options, model.size ? model.size : model.context);
    warnings_.insert(step.warnings.begin(), step.warnings.end());
    return std::move(step.trace);
  }

  const EstimateChoice& choice_;
  const EstimatePlace& place_;
  const estimate::OnnxGraph* graph_;
  std::set<std::string>& warnings_;
};

struct Answer {
  std::vector<StepEstimate> steps;
  // By amp; empty unless asked for.
  std::vector<std::pair<std::string, std::int64_t>> largest;
  std::set<std::string> warnings;
  std::optional<estimate::TransformerFigures> formulas;
};

Answer answer_for_model(const EstimateChoice& choice, const EstimatePlace& place,
                        const estimate::OnnxGraph* graph) {
  Answer answer;
  const Estimator estimator(choice, place, graph, answer.warnings);
  for (const std::string& amp : choice.amps) {
    for (const std::int64_t batch : choice.batches) {
      answer.steps.push_back(estimator.of(batch, amp));
    }
    if (choice.wants_largest) answer.largest.emplace_back(amp, estimator.largest(amp));
  }
  const auto size = estimate::gpt_size(choice.subject, choice.model, choice.batches.back());
  if (size) answer.formulas = estimate::transformer_figures(*size);
  return answer;
}

Answer answer_for_onnx(const EstimateChoice& choice, const EstimatePlace& place, Console& console) {
  try {
    const estimate::OnnxGraph graph =
        estimate::read_onnx(read_input(choice.subject, "the model", console.in));
    return answer_for_model(choice, place, &graph);
  } catch (const InvalidInput& error) {
    throw InvalidInput(choice.subject + ": " + error.what());
  }
}

Answer answer_for_trace(const EstimateChoice& choice, const EstimatePlace& place,
                        Console& console) {
  if (choice.wants_largest) {
    throw UsageError("--largest needs a model: a trace has the one batch it was recorded with");
  }
  StepEstimate step = estimate_step(load_trace(choice.subject, console.in), place);
  step.optimizer = "as traced";
  step.amp = "as traced";
  Answer answer;
  answer.steps.push_back(std::move(step));
  return answer;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Answer answer_for(const EstimateChoice& choice, const EstimatePlace& place, Console& console) {
  try {
    if (choice.subject.ends_with(".onnx")) return answer_for_onnx(choice, place, console);
    const bool is_file = !is_zoo_model(choice.subject) && std::filesystem::exists(choice.subject);
    return is_file ? answer_for_trace(choice, place, console)
                   : answer_for_model(choice, place, nullptr);
  } catch (const c10::Error& error) {
    throw Error(base::concat("torch refuses: ", first_line(error.what_without_backtrace())));
  }
}

nlohmann::json json_of(const EstimateChoice& choice, const EstimatePlace& place,
                       const Answer& answer) {
  nlohmann::json steps = nlohmann::json::array();
  for (const StepEstimate& step : answer.steps) steps.push_back(estimate_json(step, place));
  nlohmann::json document = {{"model", choice.subject},
                             {"device", place.gpu ? place.gpu->name : "cpu"},
                             {"estimates", std::move(steps)},
                             {"warnings", answer.warnings}};
  for (const auto& [amp, batch] : answer.largest) document["largest_batch"][amp] = batch;
  if (answer.formulas) {
    document["formulas"] = {
        {"parameters", answer.formulas->parameters},
        {"flops", answer.formulas->flops},
        {"layer_activation_bytes", answer.formulas->layer_activation_bytes},
        {"selective_activation_bytes", answer.formulas->selective_activation_bytes}};
  }
  return document;
}

std::string text_of(const EstimatePlace& place, const Answer& answer, const Style& style) {
  std::string text = estimates_table(answer.steps, place, style);
  for (const auto& [amp, batch] : answer.largest) {
    text += base::concat("\nlargest batch that fits as it is, amp ", amp, ": ", batch, "\n");
  }
  text += "\n" + estimate_details(answer.steps.back(), place, style);
  if (answer.formulas) {
    const auto bytes = [](double count) {
      return base::format_bytes(static_cast<std::int64_t>(count));
    };
    text += base::concat(
        "\nMegatron's formulas, as a cross-check: ",
        static_cast<std::int64_t>(answer.formulas->parameters), " parameters, ",
        answer.formulas->flops / 1e12, " TFLOP a step; activations of a layer in 16 bits ",
        bytes(answer.formulas->layer_activation_bytes), ", ",
        bytes(answer.formulas->selective_activation_bytes), " without attention's scores\n");
  }
  return text;
}

ExitCode answer_code(const Answer& answer, const EstimatePlace& place, Console& console) {
  const auto found =
      std::find_if(answer.steps.begin(), answer.steps.end(),
                   [](const StepEstimate& step) { return step.fit == Fit::kDoesNot; });
  if (found == answer.steps.end()) return ExitCode::kDone;
  print_error(console.err,
              base::concat("batch ", found->batch, " does not fit in ",
                           base::format_bytes(place.budget_bytes), ", not even with a plan; ",
                           base::format_bytes(found->smallest_budget_bytes), " would do"));
  return ExitCode::kDoesNotFit;
}

ExitCode run_estimate(const EstimateChoice& choice, Console& console) {
  const EstimatePlace place = place_of(choice);
  if (choice.wants_largest && place.budget_bytes == 0) {
    throw UsageError("--largest needs --budget or --gpu");
  }
  const Answer answer = answer_for(choice, place, console);
  for (const std::string& warning : answer.warnings) {
    console.err << "lowtide: warning: " << warning << "\n";
  }
  if (!choice.output.empty()) {
    put_output(choice.output, trace_text(*answer.steps.back().trace, choice.output), console);
  }
  console.out << (choice.json ? json_of(choice, place, answer).dump(1) + "\n"
                              : text_of(place, answer, console.style));
  return answer_code(answer, place, console);
}

}  // namespace

Verb add_estimate(CLI::App& program) {
  auto choice = std::make_shared<EstimateChoice>();
  CLI::App* verb = program.add_subcommand(
      "estimate", "Tell how much memory a training would take, before anything runs");
  verb->add_option("MODEL|FILE", choice->subject,
                   "A model of 'lowtide models', an ONNX file, or the trace of a step")
      ->required()
      ->check(not_empty())
      ->type_name("");
  verb->add_option("--batch", choice->batches, "Examples in a batch (default: 32)")
      ->delimiter(',')
      ->check(whole_number(1, kMostBatch))
      ->type_name("N[,N...]");
  verb->add_option("--optimizer", choice->optimizer, "sgd, adam or adamw (default: sgd)")
      ->check(one_of({"sgd", "adam", "adamw"}))
      ->type_name("NAME");
  verb->add_option("--amp", choice->amps, "off or bf16, or both (default: off)")
      ->delimiter(',')
      ->check(one_of({"off", "bf16"}))
      ->type_name("NAME[,NAME]");
  verb->add_option("--device", choice->device, "gpu or cpu (default: gpu)")
      ->check(one_of({"gpu", "cpu"}))
      ->type_name("NAME");
  verb->add_option("--gpu", choice->gpu, base::join(estimate::gpu_names()))
      ->check(one_of(estimate::gpu_names()))
      ->type_name("NAME");
  verb->add_option("--budget,-b", choice->budget,
                   "What torch's allocator may hold, such as 8GiB (default: the card's memory)")
      ->type_name("SIZE");
  verb->add_flag("--largest", choice->wants_largest, "Look for the largest batch that fits");
  add_output_option(*verb, choice->output,
                    "Write the last step of the estimate here, for 'lowtide plan' and the like: as "
                    "JSON if FILE ends in .json, else as text");
  add_size_options(*verb, choice->model);
  add_json_option(*verb, choice->json);
  verb->footer(kExamples);
  return Verb{verb, [choice](Console& console) { return run_estimate(*choice, console); }};
}

}  // namespace lowtide::cli
