// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <chrono>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/policy_options.h"
#include "cli/stop_signal.h"
#include "cli/summary.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "plan/json.h"
#include "plan/text.h"
#include "policy/swap/modnn.h"
#include "trace/text.h"

namespace lowtide::cli {
namespace {

struct PlanOptions {
  StepOptions step;
  PolicyChoice policy;
  std::string budget;
  std::string output;
  std::string format;
  std::string split;
};

// Into how many sub-batches --split divides a convolution at most.
constexpr std::int32_t kMostParts = 16;

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide plan step.trace --budget 8GiB                 print a plan\n"
    "  lowtide plan step.trace --budget 60% -o step.plan     write it to a file\n"
    "  lowtide plan step.trace -b 60% --policy dtr --option seed=7\n"
    "  lowtide plan step.trace -b 60% --json | jq .overhead  what it costs\n"
    "  lowtide plan step.trace -b 60% --policy modnn --split parts.trace -o parts.plan\n"
    "\nEvery plan is checked and simulated before it is written. If none fits, the exit code is 3\n"
    "and the message names the smallest budget that would do.";

// "text" or "json": as asked for, else as the name of the file suggests.
bool wants_json_plan(const PlanOptions& options) {
  if (!options.format.empty()) return options.format == "json";
  return options.output.ends_with(".json");
}

void put_plan(const PlainStep& step, const PlanOptions& options, const PlannedStep& planned,
              Console& console) {
  const bool has_file = !options.output.empty() && options.output != "-";
  if (has_file || !options.step.json) {
    const std::string text = wants_json_plan(options)
                                 ? plan::print_json(planned.plan, planned.problem)
                                 : plan::print_text(planned.plan, planned.problem);
    put_output(options.output, text, console);
  }
  if (!options.step.json) return;
  nlohmann::json document = summary_json(step, planned);
  if (!has_file) {
    document["plan"] = nlohmann::json::parse(plan::print_json(planned.plan, planned.problem));
  }
  console.out << json_text(document);
}

// Plans the step with convolutions in sub-batches, which is another step and has a file of its own.
ExitCode run_split(const PlanOptions& options, const Planner& planner, Console& console) {
  if (planner.info->name != "modnn") throw UsageError("--split goes with --policy modnn only");
  const PlainStep step = load_step(options.step, console);
  const std::int64_t budget_bytes = budget_from(options.budget, step.memory.plain_peak_bytes);
  const auto start = std::chrono::steady_clock::now();
  const policy::SplitStep split = policy::plan_modnn_split(
      step.problem(budget_bytes), parse_options(options.policy.options), kMostParts);
  const double plan_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const Refusal* refusal = std::get_if<Refusal>(&split.outcome)) {
    const RefusedStep refused{*refusal, plan_seconds};
    return report_refusal(step, planner, budget_bytes, refused, options.step.json, console);
  }
  const PlainStep parts(split.split.problem.trace, step.machine);
  PlannedStep planned =
      follow_plan(parts, std::get<Plan>(split.outcome), "the step in sub-batches");
  planned.plan_seconds = plan_seconds;
  put_output(options.split, trace::print_text(*parts.trace), console);
  put_plan(step, options, planned, console);
  console.err << summary_text(step, planned);
  return ExitCode::kDone;
}

ExitCode run_plan(const PlanOptions& options, Console& console) {
  const Planner planner = options.policy.planner();
  require_apart({options.step.trace, options.step.machine}, {options.output, options.split});
  if (!options.split.empty()) return run_split(options, planner, console);
  const PlainStep step = load_step(options.step, console);
  const std::int64_t budget_bytes = budget_from(options.budget, step.memory.plain_peak_bytes);
  const StopSignal signal;
  WipedLine line(console);
  const auto outcome = plan_step(step, planner, budget_bytes, [&](double seconds) {
    line.show_each_second(seconds,
                          planner.info->name + " is searching (Ctrl-C: take the best so far)");
  });
  line.show("");
  if (const auto* refused = std::get_if<RefusedStep>(&outcome)) {
    return unless_stopped(
        report_refusal(step, planner, budget_bytes, *refused, options.step.json, console));
  }
  const PlannedStep& planned = std::get<PlannedStep>(outcome);
  put_plan(step, options, planned, console);
  console.err << summary_text(step, planned);
  return unless_stopped(ExitCode::kDone);
}

}  // namespace

Verb add_plan(CLI::App& program) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* verb = program.add_subcommand("plan", "Make a plan that fits a step into a budget");
  add_step_options(*verb, options->step);
  add_budget_option(*verb, options->budget, "SIZE")->required();
  add_policy_options(*verb, options->policy);
  add_output_option(*verb, options->output, "Write the plan here and not to standard output");
  verb->add_option("--format", options->format,
                   "Form of the plan (default: text, or json if FILE ends in .json)")
      ->check(CLI::IsMember({"text", "json"}).description(""))
      ->type_name("text|json");
  verb->add_option("--split", options->split,
                   "Let modnn carry convolutions out in sub-batches; the step that has them, for "
                   "which the plan is, is written here")
      ->check(not_empty())
      ->type_name("FILE");
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_plan(*options, console); }};
}

}  // namespace lowtide::cli
