// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "base/printed.h"
#include "base/suggest.h"
#include "cli/estimate_report.h"
#include "cli/option_checks.h"
#include "cli/torch/estimate_answer.h"
#include "cli/torch/run_options.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "trace/json.h"
#include "trace/text.h"
#include "train/optimizer_names.h"

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

nlohmann::json json_of(const EstimateChoice& choice, const EstimatePlace& place,
                       const EstimateAnswer& answer) {
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
        {"counted_parameters", answer.counted.parameters},
        {"flops", answer.formulas->flops},
        {"counted_flops", answer.counted.flops},
        {"layer_activation_bytes", answer.formulas->layer_activation_bytes},
        {"selective_activation_bytes", answer.formulas->selective_activation_bytes}};
  }
  return document;
}

// " (counted: -0.03 %)": what is in the step, over what the formula says.
std::string against(double formula, double counted) {
  return counted == 0 ? "" : base::printed(" (counted: %+.2f %%)", 100 * (counted / formula - 1));
}

std::string formulas_text(const EstimateAnswer& answer) {
  const estimate::TransformerFigures& formulas = *answer.formulas;
  const auto bytes = [](double count) {
    return base::format_bytes(static_cast<std::int64_t>(count));
  };
  return base::concat(
      "\nMegatron's formulas, as a cross-check: ", static_cast<std::int64_t>(formulas.parameters),
      " parameters", against(formulas.parameters, answer.counted.parameters), ", ",
      formulas.flops / 1e12, " TFLOP a step", against(formulas.flops, answer.counted.flops),
      "; activations of a layer in 16 bits ", bytes(formulas.layer_activation_bytes), ", ",
      bytes(formulas.selective_activation_bytes), " without attention's scores\n");
}

std::string text_of(const EstimatePlace& place, const EstimateAnswer& answer, const Style& style) {
  std::string text = estimates_table(answer.steps, place, style);
  for (const auto& [amp, batch] : answer.largest) {
    text += base::concat("\nlargest batch that fits as it is, amp ", amp, ": ", batch, "\n");
  }
  text += "\n" + estimate_details(answer.steps.back(), place, style);
  if (answer.formulas) text += formulas_text(answer);
  return text;
}

ExitCode answer_code(const EstimateAnswer& answer, const EstimatePlace& place, Console& console) {
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
  const EstimateAnswer answer = estimate_answer(choice, place, console);
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
      ->check(whole_number(1, kMostEstimatedBatch))
      ->type_name("N[,N...]");
  verb->add_option("--optimizer", choice->optimizer,
                   base::concat(base::join(train::optimizer_names()), " (default: sgd)"))
      ->check(one_of(train::optimizer_names()))
      ->type_name("NAME");
  verb->add_option("--amp", choice->amps, "off or bf16, or both (default: off)")
      ->delimiter(',')
      ->check(one_of({"off", "bf16"}))
      ->type_name("NAME[,NAME]");
  verb->add_option("--states", choice->states,
                   "When the optimizer makes its states: first-update, as torch.optim does, or "
                   "start, as 'lowtide train' does (default: first-update)")
      ->check(one_of({"first-update", "start"}))
      ->type_name("WHEN");
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
  return Verb{verb, [choice, verb](Console& console) {
                for (const CLI::Option* option : verb->get_options()) {
                  if (option->count() > 0 && !option->get_positional()) {
                    choice->given.insert(option->get_name());
                  }
                }
                return run_estimate(*choice, console);
              }};
}

}  // namespace lowtide::cli
