// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/chrome_trace.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/memory_chart.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/stop_signal.h"
#include "cli/summary.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace lowtide::cli {
namespace {

struct SimulateOptions {
  StepOptions step;
  PolicyChoice policy;
  std::string plan;
  std::string budget;
  std::string chrome;
  bool timeline = false;
  bool no_timeline = false;
  int width = 0;
};

constexpr int kWidestChart = 100;
constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide simulate step.trace                           the step as it is\n"
    "  lowtide simulate step.trace step.plan                 under a plan\n"
    "  lowtide simulate step.trace --budget 60% --policy dtr plan first\n"
    "  lowtide simulate step.trace step.plan --chrome step.json   for Perfetto";

void check_options(const SimulateOptions& options) {
  const bool names_policy = !options.policy.name.empty() || !options.policy.options.empty();
  if (!options.plan.empty() && names_policy) {
    throw UsageError("a plan and --policy exclude each other; leave one of them out");
  }
  if (names_policy && options.budget.empty()) {
    throw UsageError("--policy needs --budget; add one such as --budget 60%");
  }
  const std::vector<std::string> inputs{options.step.trace, options.step.machine, options.plan};
  require_one_stdin(inputs);
  require_apart(inputs, {options.chrome});
}

// The step under the plan of the command line, under one made now, or as it is.
std::variant<PlannedStep, RefusedStep> simulate_step(const SimulateOptions& options,
                                                     const Planner& planner, const PlainStep& step,
                                                     Console& console) {
  const std::int64_t plain_peak = step.memory.plain_peak_bytes;
  if (!options.plan.empty()) {
    Plan plan = load_plan(options.plan, step.problem(0), console.in);
    if (!options.budget.empty()) plan.budget_bytes = budget_from(options.budget, plain_peak);
    return follow_plan(step, std::move(plan), options.plan);
  }
  if (options.budget.empty()) return follow_nothing(step);
  return plan_step(step, planner, budget_from(options.budget, plain_peak));
}

nlohmann::json timeline_json(const Timeline& timeline) {
  nlohmann::json ticks = nlohmann::json::array();
  for (const TickUse& tick : timeline.ticks) {
    nlohmann::json bytes = nlohmann::json::object();
    for (std::size_t i = 0; i < kStorageKinds; ++i) {
      bytes[std::string(to_string(static_cast<StorageKind>(i)))] = tick.bytes[i];
    }
    ticks.push_back({{"op", tick.op.index},
                     {"start_seconds", tick.start_seconds},
                     {"end_seconds", tick.end_seconds},
                     {"bytes", std::move(bytes)},
                     {"leaving_bytes", tick.leaving_bytes}});
  }
  return ticks;
}

std::string chart(const SimulateOptions& options, const PlainStep& step, const PlannedStep& planned,
                  const Style& style) {
  const bool is_plain = planned.plan.actions.empty() && options.budget.empty();
  ChartOptions chart_options;
  chart_options.columns = options.width > 0 ? options.width : std::min(style.columns, kWidestChart);
  if (!is_plain) {
    chart_options.budget_bytes = planned.problem.budget_bytes;
    chart_options.plain_peak_bytes = step.memory.plain_peak_bytes;
  }
  return draw_memory(*step.trace, planned.timeline, chart_options, style);
}

void print_result(const SimulateOptions& options, const PlainStep& step, const PlannedStep& planned,
                  Console& console) {
  if (options.step.json) {
    nlohmann::json document = report_json(step, planned);
    if (options.timeline) document["timeline"] = timeline_json(planned.timeline);
    console.out << json_text(document);
    return;
  }
  if (!options.no_timeline) console.out << chart(options, step, planned, console.style) << "\n";
  console.out << report_text(step, planned, console.style);
}

ExitCode run_simulate(const SimulateOptions& options, Console& console) {
  check_options(options);
  const Planner planner = options.policy.planner();
  const PlainStep step = load_step(options.step, console);
  const StopSignal signal;
  const auto outcome = simulate_step(options, planner, step, console);
  if (const auto* refused = std::get_if<RefusedStep>(&outcome)) {
    const std::int64_t budget_bytes = budget_from(options.budget, step.memory.plain_peak_bytes);
    return unless_stopped(
        report_refusal(step, planner, budget_bytes, *refused, options.step.json, console));
  }
  const PlannedStep& planned = std::get<PlannedStep>(outcome);
  if (!options.chrome.empty()) put_output(options.chrome, chrome_trace(planned), console);
  print_result(options, step, planned, console);
  return unless_stopped(ExitCode::kDone);
}

}  // namespace

Verb add_simulate(CLI::App& program) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* verb = program.add_subcommand(
      "simulate", "Predict memory and time of a step, with or without a plan");
  add_step_options(*verb, options->step);
  verb->add_option("PLAN", options->plan,
                   "A plan for the trace; without one and without --budget, "
                   "the step runs as it is")
      ->type_name("");
  add_budget_option(*verb, options->budget, "SIZE");
  add_policy_options(*verb, options->policy);
  CLI::Option* timeline = verb->add_flag(
      "--timeline", options->timeline, "Draw memory over time (the default); with --json, list it");
  verb->add_flag("--no-timeline", options->no_timeline, "Do not draw it")->excludes(timeline);
  verb->add_option("--width", options->width, "Columns of the picture (default: up to 100)")
      ->check(CLI::Range(40, 1000).description(""))
      ->type_name("N");
  verb->add_option("--chrome", options->chrome, "Write a trace for Perfetto or chrome://tracing")
      ->check(not_empty())
      ->type_name("FILE");
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_simulate(*options, console); }};
}

}  // namespace lowtide::cli
