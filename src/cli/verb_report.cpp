// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/chrome_trace.h"
#include "cli/console.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cli/inputs.h"
#include "cli/output_file.h"
#include "cli/summary.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "report/findings.h"
#include "report/memory_snapshot.h"
#include "report/names.h"
#include "report/page.h"
#include "report/step_csv.h"

namespace lowtide::cli {
namespace {

struct ReportOptions {
  std::string run;
  // Empty: h200 for a trace. A record has its own.
  std::string machine;
  PolicyChoice policy;
  std::string plan;
  std::string budget;
  std::string output;
  std::string chrome;
  std::string snapshot;
  std::string csv;
  bool json = false;
};

constexpr const char* kMachine = "h200";
constexpr double kThinkSeconds = 8;
// In bytes, on a terminal.
constexpr std::size_t kLongestTitle = 160;
constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide report run.json -o report.html                     what a run did\n"
    "  lowtide report step.trace --budget 60% -o report.html      what a plan would do\n"
    "  lowtide report run.json --chrome-trace step.json --memory-snapshot step.pickle\n"
    "\n'lowtide train MODEL --budget 40% --record run.json' writes such a record."
    "\nThe page is one file that loads nothing; docs/report.md says what its parts mean.";

std::vector<std::string> files_of(const ReportOptions& options) {
  std::vector<std::string> files;
  for (const std::string* file :
       {&options.output, &options.chrome, &options.snapshot, &options.csv}) {
    if (!file->empty()) files.push_back(*file);
  }
  return files;
}

void check_options(const ReportOptions& options) {
  const std::vector<std::string> files = files_of(options);
  if (files.empty()) {
    throw UsageError("nothing to write; name the page with -o report.html, or an export");
  }
  const auto to_stdout = std::count(files.begin(), files.end(), "-");
  if (to_stdout > 1 || (to_stdout == 1 && options.json)) {
    throw UsageError("only one thing can go to standard output; name files for the others");
  }
  if (options.snapshot == "-") {
    throw UsageError("--memory-snapshot writes bytes, not text; name a file");
  }
  const bool names_policy = !options.policy.name.empty() || !options.policy.options.empty();
  if (!options.plan.empty() && names_policy) {
    throw UsageError("--plan and --policy exclude each other; leave one of them out");
  }
  if (names_policy && options.budget.empty()) {
    throw UsageError("--policy needs --budget; add one such as --budget 60%");
  }
  const std::vector<std::string> inputs{options.run, options.machine, options.plan};
  require_one_stdin(inputs);
  require_apart(inputs, files);
  // Before anything is planned.
  for (const std::string& file : files) {
    if (file != "-") require_writable(file);
  }
}

void require_no_step_options(const ReportOptions& options) {
  const bool has_some = !options.budget.empty() || !options.plan.empty() ||
                        !options.policy.name.empty() || !options.policy.options.empty() ||
                        !options.machine.empty();
  if (!has_some) return;
  throw UsageError(options.run +
                   " is the record of a run, which has its own budget, plan and machine; leave "
                   "--budget, --plan, --policy, --option and --machine out");
}

// A step from a file as if it had been recorded: with the plan that the command line names, or one
// made now.
std::variant<report::RunRecord, RefusedStep> record_of(const PlainStep& step,
                                                       const ReportOptions& options,
                                                       const Planner& planner, Console& console) {
  report::RunRecord record;
  record.title = step.trace->name();
  record.trace = step.trace;
  record.machine = step.machine;
  record.was_run = false;
  if (!options.plan.empty()) {
    Plan plan = load_plan(options.plan, step.problem(0), console.in);
    if (!options.budget.empty()) {
      plan.budget_bytes = budget_from(options.budget, step.memory.plain_peak_bytes);
    }
    record.plan = follow_plan(step, std::move(plan), options.plan).plan;
  } else if (!options.budget.empty()) {
    auto outcome =
        plan_step(step, planner, budget_from(options.budget, step.memory.plain_peak_bytes));
    if (const auto* refused = std::get_if<RefusedStep>(&outcome)) return *refused;
    record.plan = std::get<PlannedStep>(std::move(outcome)).plan;
  }
  if (record.plan) {
    record.budget_bytes = record.plan->budget_bytes;
    record.policy = record.plan->policy;
  }
  return record;
}

std::string text_of(const report::Findings& findings, const ReportOptions& options,
                    std::size_t page_bytes, const Style& style) {
  const report::Study& study = findings.study;
  FactList facts(style);
  facts.add("step", report::shortened(one_line(study.record.title), kLongestTitle));
  facts.add("plain", base::concat(base::format_bytes(study.memory.plain_peak_bytes), ", ",
                                  base::format_seconds(study.plain.timeline.seconds)));
  if (study.planned) {
    const Timeline& planned = study.planned->timeline;
    facts.add(study.is_predicted ? "predicted" : "planned",
              base::concat(base::format_bytes(planned.peak_bytes), ", ",
                           base::format_seconds(planned.seconds), " (",
                           format_overhead(overhead(study.plain.timeline.seconds, planned.seconds)),
                           ") by ", study.planned->plan.policy));
  }
  if (study.refusal) facts.add("no plan", study.refusal->reason);
  if (!options.output.empty()) {
    facts.add("report", base::concat(options.output, ", ",
                                     base::format_bytes(static_cast<std::int64_t>(page_bytes))));
  }
  return facts.text();
}

ExitCode write_report(const report::RunRecord& record, const ReportOptions& options,
                      Console& console) {
  const double think = options.policy.think_seconds;
  const report::Findings findings = report::find_out(record, think > 0 ? think : kThinkSeconds);
  const report::SimulatedStep& shown = findings.study.after();
  std::size_t page_bytes = 0;
  if (!options.output.empty()) {
    const std::string page = report::page(findings);
    page_bytes = page.size();
    put_output(options.output, page, console);
  }
  if (!options.chrome.empty()) {
    const PlannedStep step{
        .problem = shown.problem, .plan = shown.plan, .timeline = shown.timeline, .bounds = {}};
    put_output(options.chrome, chrome_trace(step), console);
  }
  if (!options.snapshot.empty()) {
    put_output(options.snapshot, report::memory_snapshot_file(shown), console);
  }
  if (!options.csv.empty()) put_output(options.csv, report::step_csv(findings.study), console);
  if (options.json) {
    nlohmann::json summary = report::summary_json(findings);
    summary["report_bytes"] = page_bytes;
    console.out << summary.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    const std::vector<std::string> files = files_of(options);
    const bool is_piped = std::count(files.begin(), files.end(), "-") > 0;
    (is_piped ? console.err : console.out) << text_of(findings, options, page_bytes, console.style);
  }
  return ExitCode::kDone;
}

ExitCode run_report(const ReportOptions& options, Console& console) {
  check_options(options);
  Planner planner = options.policy.planner();
  if (planner.think_seconds <= 0) planner.think_seconds = kThinkSeconds / 2;
  const std::string text = read_input(options.run, "the record of a run, or a trace", console.in);
  if (report::is_run_record(text)) {
    require_no_step_options(options);
    return write_report(parse_record(options.run, text), options, console);
  }
  const Machine machine =
      load_machine(options.machine.empty() ? kMachine : options.machine, console.in);
  const PlainStep step(parse_trace(options.run, text), machine);
  const auto record = record_of(step, options, planner, console);
  if (const auto* refused = std::get_if<RefusedStep>(&record)) {
    const std::int64_t budget_bytes = budget_from(options.budget, step.memory.plain_peak_bytes);
    return report_refusal(step, planner, budget_bytes, *refused, options.json, console);
  }
  return write_report(std::get<report::RunRecord>(record), options, console);
}

}  // namespace

Verb add_report(CLI::App& program) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = program.add_subcommand(
      "report", "Show what was done with a step's memory and why, as one HTML file");
  verb->add_option("RUN", options->run,
                   "The record of a run ('lowtide train --record'), or a trace; - for standard "
                   "input")
      ->required()
      ->type_name("");
  add_output_option(*verb, options->output, "Write the page here");
  verb->add_option("--machine", options->machine,
                   "Of a trace: h200, pcie4, unit or a JSON file (default: h200)")
      ->type_name("NAME|FILE");
  add_budget_option(*verb, options->budget, "SIZE");
  verb->add_option("--plan", options->plan, "Of a trace: a plan from 'lowtide plan -o'")
      ->type_name("FILE");
  add_policy_options(*verb, options->policy);
  verb->add_option("--chrome-trace", options->chrome,
                   "Write the step for Perfetto or chrome://tracing")
      ->type_name("FILE");
  verb->add_option("--memory-snapshot", options->snapshot,
                   "Write it for PyTorch's memory viewer (torch.cuda._memory_viz)")
      ->type_name("FILE");
  verb->add_option("--csv", options->csv, "Write memory and times of its ops, before and after")
      ->type_name("FILE");
  add_json_option(*verb, options->json);
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_report(*options, console); }};
}

}  // namespace lowtide::cli
