// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/torch/decompose_text.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "ctdr/forms_file.h"
#include "ctdr/run.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide decompose small_resnet --budget 60% --max-accuracy-loss 1\n"
    "  lowtide decompose small_resnet --checkpoint run1 --method tucker2 --rank evbmf\n"
    "  lowtide decompose lenet5 --rank compression=0.25 --everywhere --json\n"
    "  lowtide decompose lenet5 --checkpoint run1 --forms forms.json -o weights.safetensors\n"
    "\nChanges what the model computes: weights become products of smaller ones where that pays in "
    "the\n"
    "time or the memory of a step, and fine-tuning brings the accuracy back. Without --checkpoint "
    "the\n"
    "dense net is trained first. If no choice keeps the budget, the exit code is 3; if the "
    "accuracy "
    "does\n"
    "not come back, 1.";

struct DecomposeChoice : RunChoice {
  ctdr::Options options;
  std::string method = "auto";
  std::string rank;
  std::string given_forms;
  std::string machine = "h200";
  double most_loss_points = 0.5;
};

std::vector<Decomposition> methods_of(const std::string& name) {
  if (name == "svd") return {Decomposition::kSvd};
  // Linear and 1x1 layers have no other form.
  if (name == "tucker2") return {Decomposition::kSvd, Decomposition::kTucker2};
  if (name == "cp3") return {Decomposition::kSvd, Decomposition::kCp3};
  if (name == "cp4") return {Decomposition::kSvd, Decomposition::kCp4};
  return ctdr::CandidateRules().methods;
}

// Before hours of training, and not after them.
void require_output(const std::string& path) {
  require_writable(path);
  std::error_code none;
  if (!std::filesystem::exists(path, none) || std::filesystem::is_regular_file(path, none)) return;
  throw UsageError(base::concat("--output: ", path, " is there and is no plain file"));
}

ctdr::Options options_of(const CLI::App& verb, const DecomposeChoice& choice, Console& console) {
  ctdr::Options options = choice.options;
  options.run = resolve(verb, choice);
  options.run.checkpoint = choice.run.checkpoint;
  options.run.epochs = choice.run.epochs;
  options.rules.methods = methods_of(choice.method);
  options.rules.has_reconstructed = choice.method == "auto";
  options.most_accuracy_loss = choice.most_loss_points / 100;
  options.machine = load_machine(choice.machine, console.in);
  if (train::is_share(options.batch_budget)) {
    throw UsageError("--max-batch-within is a size, such as 8GiB, and not a share");
  }
  try {
    if (!options.batch_budget.empty()) static_cast<void>(base::parse_bytes(options.batch_budget));
  } catch (const InvalidInput& error) {
    throw UsageError(base::concat("--max-batch-within: ", error.what()));
  }
  try {
    if (!choice.rank.empty()) options.rules.ranks = {decompose::parse_rank_rule(choice.rank)};
  } catch (const InvalidInput& error) {
    throw UsageError(base::concat("--rank: ", error.what()));
  }
  if (!choice.given_forms.empty()) {
    options.rules.given = ctdr::read_forms(choice.given_forms);
    options.everywhere = true;
  }
  if (options.is_merged && options.output.empty()) {
    throw UsageError("--merge is about what is written; add --output FILE");
  }
  if (!options.output.empty()) require_output(options.output);
  return options;
}

// Of a run that the user stopped.
std::string kept_text(const ctdr::Report& report) {
  if (report.written.empty()) {
    return report.has_result() ? "nothing was kept, for want of --output" : "nothing was kept";
  }
  return base::concat(report.written, " has the weights as this tells; go on with 'lowtide train ",
                      report.training.model, " --weights ", report.written, "'");
}

ExitCode run_decompose(const CLI::App& verb, const DecomposeChoice& choice, Console& console) {
  const ctdr::Options options = options_of(verb, choice, console);
  ctdr::Report report;
  run_with_progress(console, options.run.training.batch,
                    [&](const train::Hooks& hooks) { report = ctdr::run(options, hooks); });
  if (report.has_result()) {
    console.out << (choice.json ? json_text(decompose_json(report))
                                : decompose_text(report, console.style));
  }
  if (!report.stopped.empty()) {
    console.err << "stopped " << report.stopped << "; " << kept_text(report) << std::endl;
    return ExitCode::kInterrupted;
  }
  if (report.max_batch && !report.max_batch->failure.empty()) {
    console.err << "the search for the largest batch was broken off: " << report.max_batch->failure
                << std::endl;
    return ExitCode::kFailed;
  }
  if (!report.recovery || report.recovery->is_back) return ExitCode::kDone;
  console.err << "the accuracy is not back to within " << choice.most_loss_points
              << " points; allow more --epochs, a larger --max-accuracy-loss, or a larger --rank"
              << std::endl;
  return ExitCode::kFailed;
}

void add_method_options(CLI::App& verb, DecomposeChoice& choice) {
  const char* const group = "Decomposition";
  CLI::Option* forms =
      verb.add_option("--forms", choice.given_forms,
                      "Decompose as this file says and not as is found to pay: a JSON object such "
                      "as {\"conv1\": \"tucker2 16x24\", \"fc\": \"svd 64\"}")
          ->check(not_empty())
          ->type_name("FILE")
          ->group(group);
  verb.add_option("--method", choice.method,
                  "auto (what pays most for each layer), svd, tucker2, cp3 or cp4 (default: auto)")
      ->check(one_of({"auto", "svd", "tucker2", "cp3", "cp4"}))
      ->type_name("NAME")
      ->excludes(forms)
      ->group(group);
  verb.add_option(
          "--rank", choice.rank,
          "evbmf, energy=X, compression=X, total=X (of the parameters of all layers), total=SIZE "
          "(of "
          "their weights, gradients and states) or a number (default: compression=0.5 and 0.25, "
          "what pays more)")
      ->check(not_empty())
      ->type_name("RULE")
      ->excludes(forms)
      ->group(group);
  verb.add_flag("--everywhere", choice.options.everywhere,
                "Decompose all layers that can be, whether that pays or not")
      ->excludes(forms)
      ->group(group);
  verb.add_flag("--untrained", choice.options.rules.takes_untrained,
                "Decompose weights that look untrained, too, which are else left dense")
      ->group(group);
  verb.add_option("--cp-sweeps", choice.options.rules.cp_sweeps,
                  "Sweeps of least squares for CP, at most; few of them are quick on large layers "
                  "and less exact (default: 300)")
      ->check(whole_number(1, 100'000))
      ->type_name("N")
      ->group(group);
  verb.add_option("--max-accuracy-loss", choice.most_loss_points,
                  "Points of accuracy that may be lost (default: 0.5)")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->type_name("X")
      ->group(group);
  verb.add_option("--epochs", choice.options.fine_tuning_epochs,
                  "Rounds of fine-tuning through the data, at most (default: 1)")
      ->check(whole_number(0, 100'000))
      ->type_name("N")
      ->group(group);
  verb.add_option("--raises", choice.options.raises,
                  "How often ranks are raised, or layers made dense again, if the accuracy is not "
                  "back (default: 2)")
      ->check(whole_number(0, 100))
      ->type_name("N")
      ->group(group);
}

}  // namespace

Verb add_decompose(CLI::App& program) {
  auto choice = std::make_shared<DecomposeChoice>();
  CLI::App* verb = program.add_subcommand(
      "decompose", "Decompose the weights of a trained model where that pays, and fine-tune it");
  add_run_options(*verb, *choice);
  add_method_options(*verb, *choice);
  verb->add_option("--checkpoint", choice->run.checkpoint,
                   "The folder of a training by 'lowtide train', whose weights are taken")
      ->check(not_empty())
      ->type_name("DIR");
  verb->add_option("--train-epochs", choice->run.epochs,
                   "Without a checkpoint: rounds in which the dense net is trained (default: 1)")
      ->check(whole_number(1, 100'000))
      ->type_name("N");
  add_machine_option(*verb, choice->machine);
  verb->add_option("--think", choice->options.think_seconds,
                   "Seconds that planning one set of layers may take (default: 10)")
      ->check(positive_number())
      ->type_name("X");
  verb->add_option("--trials", choice->options.most_trials,
                   "Sets of layers that are looked at, at most (default: 24)")
      ->check(whole_number(2, 10'000))
      ->type_name("N");
  verb->add_option("--output,-o", choice->options.output, "Write the weights to this file")
      ->check(not_empty())
      ->type_name("FILE");
  verb->add_option("--max-batch-within", choice->options.batch_budget,
                   "Find the largest batch of the decomposed net within this memory, too")
      ->check(not_empty())
      ->type_name("SIZE");
  verb->add_flag("--merge", choice->options.is_merged,
                 "Write dense weights, with the factors multiplied out");
  verb->footer(kExamples);
  return Verb{verb,
              [verb, choice](Console& console) { return run_decompose(*verb, *choice, console); }};
}

}  // namespace lowtide::cli
