// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/torch/report_json.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide train small_resnet                        one epoch of Fashion-MNIST\n"
    "  lowtide train small_resnet --budget 40%           in 40 % of the memory that takes\n"
    "  lowtide train small_resnet --budget 40% --record run.json        for 'lowtide report'\n"
    "  lowtide train gpt --layers 4 --width 128 --heads 4 --context 128 --optimizer adamw\n"
    "  lowtide train small_resnet --epochs 5 --checkpoint run1          Ctrl-C stops it,\n"
    "  lowtide train small_resnet --epochs 5 --checkpoint run1 --resume goes on";

std::string report_text(const train::Report& report, const Style& style) {
  FactList facts(style);
  facts.add("steps", base::concat(report.steps_done, " in all, ", report.steps, " in this run"));
  if (report.step_seconds) facts.add("step time", base::format_seconds(*report.step_seconds));
  if (report.loss) facts.add("loss", base::concat(*report.loss));
  if (report.evaluation) {
    facts.add("accuracy", base::concat(format_percent(report.evaluation->accuracy), " of ",
                                       report.evaluation->examples, " examples, loss ",
                                       report.evaluation->loss));
  }
  if (report.stats.peak_bytes == 0) return facts.text();  // stopped before a session was open
  std::string memory = base::format_bytes(report.stats.peak_bytes) + " at most";
  if (report.budget_bytes > 0) memory += " of " + base::format_bytes(report.budget_bytes);
  if (report.plain_peak_bytes) {
    memory += "; without a budget " + base::format_bytes(*report.plain_peak_bytes);
  }
  facts.add("memory", memory);
  if (report.budget_bytes > 0) {
    facts.add("for that", base::concat(report.stats.evictions, " evictions, ",
                                       report.stats.recomputes, " recomputed, ",
                                       base::format_bytes(report.stats.bytes_to_host), " to host, ",
                                       base::format_bytes(report.stats.bytes_to_disk), " to disk"));
  }
  if (!report.checkpoint.empty()) facts.add("checkpoint", report.checkpoint);
  return facts.text();
}

// Where a checkpoint was asked for there is one, unless no step was taken yet.
std::string kept_text(const train::Report& report, bool has_folder) {
  if (!report.checkpoint.empty()) {
    return "go on with --resume; the checkpoint is " + report.checkpoint;
  }
  return has_folder ? "there is nothing to keep yet" : "nothing was kept, for want of --checkpoint";
}

void say_interrupted(const train::Report& report, bool has_folder, Console& console) {
  console.err << (report.steps_done == 0 ? std::string("stopped before the first step")
                                         : base::concat("stopped after step ", report.steps_done))
              << "; " << kept_text(report, has_folder) << std::endl;
}

struct TrainChoice : RunChoice {
  std::string record;
};

void write_record(const train::Report& report, const std::string& path, Console& console) {
  if (report.record.empty()) {
    console.err << "no record was written: the training ended before a step of it was kept"
                << std::endl;
    return;
  }
  write_output_file(path, report.record);
}

ExitCode run_train(const CLI::App& verb, const TrainChoice& choice, Console& console) {
  train::RunOptions options = resolve(verb, choice);
  options.is_recorded = !choice.record.empty();
  // Before anything is trained.
  if (options.is_recorded) require_writable(choice.record);
  train::Report report;
  run_with_progress(console, options.training.batch,
                    [&](const train::Hooks& hooks) { report = train::run(options, hooks); });
  if (options.is_recorded) write_record(report, choice.record, console);
  console.out << (choice.json ? json_text(report_json(report))
                              : report_text(report, console.style));
  if (!report.was_interrupted) return ExitCode::kDone;
  say_interrupted(report, !options.checkpoint.empty(), console);
  return ExitCode::kInterrupted;
}

}  // namespace

Verb add_train(CLI::App& program) {
  auto choice = std::make_shared<TrainChoice>();
  CLI::App* verb = program.add_subcommand("train", "Train a model inside a memory budget");
  add_run_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  train::RunOptions& run = choice->run;
  CLI::Option* steps = verb->add_option("--steps", run.steps, "How long to train, in all")
                           ->check(whole_number(1))
                           ->type_name("N");
  verb->add_option("--epochs", run.epochs, "The same in rounds through the data (default: 1)")
      ->check(whole_number(1))
      ->type_name("N")
      ->excludes(steps);
  CLI::Option* folder =
      verb->add_option("--checkpoint", run.checkpoint, "Keep the training's state in this folder")
          ->check(not_empty())
          ->type_name("DIR");
  verb->add_option("--evaluate-every", run.evaluate_every,
                   "Steps from one evaluation to the next (default: only at the end)")
      ->check(whole_number(1))
      ->type_name("N");
  verb->add_option("--checkpoint-every", run.checkpoint_every,
                   "Steps from one checkpoint to the next (default: 100)")
      ->check(whole_number(1))
      ->type_name("N")
      ->needs(folder);
  verb->add_flag("--resume", run.resume, "Go on from the checkpoint, if there is one")
      ->needs(folder);
  verb->add_flag("--deterministic", run.is_deterministic,
                 "Use kernels that give the same bits every time");
  verb->add_option("--record", choice->record,
                   "Write down one step and what was done with it, for 'lowtide report'")
      ->check(not_empty())
      ->type_name("FILE");
  verb->footer(kExamples);
  return Verb{verb,
              [verb, choice](Console& console) { return run_train(*verb, *choice, console); }};
}

}  // namespace lowtide::cli
