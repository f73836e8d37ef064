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
#include "cli/fact_list.h"
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
    "  lowtide estimate model.onnx --batch 16 --optimizer adam --axis seq=128\n"
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
  if (!answer.largest.empty()) document["largest_batch_tried"] = kMostEstimatedBatch;
  if (answer.formulas) {
    document["formulas"] = {
        {"parameters", answer.formulas->parameters},
        {"counted_parameters", answer.counted.parameters},
        {"flops", answer.formulas->flops},
        {"counted_flops", answer.counted.flops},
        {"layer_activation_bytes", answer.formulas->layer_activation_bytes},
        {"selective_activation_bytes", answer.formulas->selective_activation_bytes},
        {"counted_layer_activation_bytes", answer.counted.layer_activation_bytes},
        {"counted_keeps_scores", answer.counted.keeps_scores}};
  }
  return document;
}

// "; in the step -0.03 %": what is in the step, over what the formula says.
std::string against(double formula, double counted) {
  return base::printed("; in the step %+.2f %%", 100 * (counted / formula - 1));
}

std::string bytes_text(double count) {
  return base::format_bytes(static_cast<std::int64_t>(count));
}

// What a layer keeps, by formula and as counted, and which of the two to compare with.
void add_layer(FactList& list, const EstimateAnswer& answer, bool has_bf16) {
  const estimate::TransformerFigures& formulas = *answer.formulas;
  list.add("a layer keeps", bytes_text(formulas.layer_activation_bytes) +
                                " in 16 bits with attention's scores written down");
  list.add_below(bytes_text(formulas.selective_activation_bytes) +
                 " in 16 bits with these computed anew (selective recomputation)");
  list.add_below(base::concat(
      bytes_text(answer.counted.layer_activation_bytes), " in the step, in ",
      has_bf16 ? "16 and 32" : "32", " bits; ",
      answer.counted.keeps_scores
          ? "its attention writes the scores down, as in the first of these"
          : "its attention is fused and never writes the scores down, as in the second of these"));
}

std::string formulas_text(const EstimateAnswer& answer, const Style& style) {
  const estimate::TransformerFigures& formulas = *answer.formulas;
  const StepEstimate& step = answer.steps.back();
  FactList list(style);
  list.add("parameters", base::concat(static_cast<std::int64_t>(formulas.parameters),
                                      against(formulas.parameters, answer.counted.parameters)));
  list.add("arithmetic", base::concat(base::printed("%.4g", formulas.flops / 1e12), " TFLOP",
                                      against(formulas.flops, answer.counted.flops)));
  add_layer(list, answer, step.amp == "bf16");
  return base::concat("\nMegatron's formulas for a step with batch ", step.batch,
                      ", as a cross-check:\n", list.text());
}

std::string largest_text(const std::string& amp, std::int64_t batch) {
  if (batch == 0) return base::concat("\nno batch fits with the margin, amp ", amp, "\n");
  return base::concat("\nlargest batch that fits with the margin, amp ", amp, ": ", batch,
                      batch == kMostEstimatedBatch ? ", and larger ones were not tried" : "", "\n");
}

std::string text_of(const EstimatePlace& place, const EstimateAnswer& answer, const Style& style) {
  std::string text = estimates_table(answer.steps, place, style);
  for (const auto& [amp, batch] : answer.largest) {
    text += largest_text(amp, batch);
  }
  text += "\n" + estimate_details(answer.steps.back(), place, style);
  if (answer.formulas) text += formulas_text(answer, style);
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

// Names in a file may be any bytes.
std::string json_text(const nlohmann::json& document) {
  return document.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

ExitCode run_estimate(const EstimateChoice& choice, Console& console) {
  const EstimatePlace place = place_of(choice);
  if (choice.wants_largest && place.budget_bytes == 0) {
    throw UsageError("--largest needs --budget or --gpu");
  }
  const EstimateAnswer answer = estimate_answer(choice, place, console);
  for (const std::string& warning : answer.warnings) print_warning(console.err, warning);
  if (!choice.output.empty()) {
    put_output(choice.output, trace_text(*answer.steps.back().trace, choice.output), console);
  }
  console.out << (choice.json ? json_text(json_of(choice, place, answer))
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
  verb->add_flag("--largest", choice->wants_largest,
                 base::concat("Look for the largest batch that fits, up to ", kMostEstimatedBatch));
  verb->add_option("--axis", choice->axes,
                   "How long an axis is that an ONNX file has a name for, other than the batch")
      ->delimiter(',')
      ->check(not_empty())
      ->type_name("NAME=SIZE[,...]");
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
