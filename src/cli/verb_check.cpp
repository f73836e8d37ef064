// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/trace_facts.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "trace/json.h"
#include "trace/text.h"

namespace lowtide::cli {
namespace {

struct CheckOptions {
  StepOptions step;
  std::string plan;
  std::string budget;
  std::string to;
  std::string output;
};

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide check step.trace                         what the trace holds\n"
    "  lowtide check step.trace step.plan               whether the plan is right\n"
    "  lowtide check step.trace --to json -o step.json  convert the trace\n"
    "  lowtide check resnet32.log --to text             import a log of DTR's";

void check_options(const CheckOptions& options) {
  if (!options.output.empty() && options.to.empty()) {
    throw UsageError("-o needs --to; say --to text or --to json");
  }
  if (!options.budget.empty() && options.plan.empty()) {
    throw UsageError("--budget needs a plan to check; add one, or use 'lowtide plan' to make one");
  }
  const bool both_on_stdout = options.output.empty() || options.output == "-";
  if (!options.to.empty() && options.step.json && both_on_stdout) {
    throw UsageError("--json and --to both print to standard output; add -o FILE");
  }
  const std::vector<std::string> inputs{options.step.trace, options.step.machine, options.plan};
  require_one_stdin(inputs);
  require_apart(inputs, {options.output});
}

std::string violation_text(const Violation& violation) {
  return base::concat(to_string(violation.kind), ": ", violation.message, "\n");
}

std::string verdict_text(const Verdict& verdict, const Trace& trace, const Plan& plan) {
  std::string text;
  for (const Violation& violation : verdict.violations) text += violation_text(violation);
  if (!verdict.ok()) return text;
  const std::string peak_op =
      verdict.peak_op.valid() ? " in " + trace.op_name(verdict.peak_op) : std::string();
  return base::concat("plan ok: ", plan.actions.size(), " actions of ", plan.policy, ", peak ",
                      base::format_bytes(verdict.peak_bytes), peak_op, ", budget ",
                      base::format_bytes(plan.budget_bytes), "\n");
}

nlohmann::json verdict_json(const Verdict& verdict, const Trace& trace, const Plan& plan) {
  nlohmann::json violations = nlohmann::json::array();
  for (const Violation& violation : verdict.violations) {
    nlohmann::json item{{"kind", to_string(violation.kind)}, {"message", violation.message}};
    if (violation.op.valid()) item["op"] = violation.op.index;
    const bool has_value =
        violation.value.valid() && violation.value.slot() < trace.values().size();
    if (has_value) item["value"] = trace.value_name(violation.value);
    violations.push_back(std::move(item));
  }
  return {{"policy", plan.policy},
          {"actions", plan.actions.size()},
          {"budget_bytes", plan.budget_bytes},
          {"peak_bytes", verdict.peak_bytes},
          {"ok", verdict.ok()},
          {"violations", std::move(violations)}};
}

void convert(const CheckOptions& options, const Trace& trace, Console& console) {
  const std::string text =
      options.to == "json" ? trace::print_json(trace) : trace::print_text(trace);
  put_output(options.output, text, console);
}

ExitCode report_verdict(const CheckOptions& options, const Verdict& verdict, Console& console) {
  if (verdict.ok()) return ExitCode::kDone;
  const std::size_t count = verdict.violations.size();
  print_error(console.err,
              base::concat(options.plan, ": ", count, count == 1 ? " violation" : " violations",
                           "; the first: ", verdict.violations.front().message,
                           "; make a new plan with 'lowtide plan'"));
  return ExitCode::kFailed;
}

ExitCode run_check(const CheckOptions& options, Console& console) {
  check_options(options);
  const Machine machine = load_machine(options.step.machine, console.in);
  const std::shared_ptr<const Trace> trace = load_trace(options.step.trace, console.in);
  const TraceFacts facts = trace_facts(*trace, machine);
  nlohmann::json document = facts_json(*trace, facts);
  std::string text = facts_text(*trace, facts, console.style);
  Verdict verdict;
  if (!options.plan.empty()) {
    Problem problem{.trace = trace, .machine = machine};
    Plan plan = load_plan(options.plan, problem, console.in);
    if (!options.budget.empty()) {
      plan.budget_bytes = budget_from(options.budget, facts.memory.plain_peak_bytes);
    }
    problem.budget_bytes = plan.budget_bytes;
    verdict = verify(problem, plan);
    document["plan"] = verdict_json(verdict, *trace, plan);
    text += "\n" + verdict_text(verdict, *trace, plan);
  }
  if (!options.to.empty()) convert(options, *trace, console);
  // The converted trace has standard output to itself.
  const bool is_taken = !options.to.empty() && (options.output.empty() || options.output == "-");
  (is_taken ? console.err : console.out) << (options.step.json ? json_text(document) : text);
  return report_verdict(options, verdict, console);
}

}  // namespace

Verb add_check(CLI::App& program) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = program.add_subcommand("check", "Check a trace, or a plan against its trace");
  add_step_options(*verb, options->step);
  verb->add_option("PLAN", options->plan, "A plan for the trace")->type_name("");
  add_budget_option(*verb, options->budget, "SIZE");
  verb->add_option("--to", options->to, "Convert the trace to this form")
      ->check(CLI::IsMember({"text", "json"}).description(""))
      ->type_name("text|json");
  add_output_option(*verb, options->output, "Where the converted trace goes");
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_check(*options, console); }};
}

}  // namespace lowtide::cli
