// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison_run.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "base/check.h"
#include "base/words.h"
#include "cli/comparison.h"
#include "cli/comparison_csv.h"
#include "cli/comparison_page.h"
#include "cli/comparison_plot.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/stop_signal.h"
#include "cli/verb_options.h"

namespace lowtide::cli {
namespace {

// What is named twice is a slip, and would be in all tables twice.
void require_once(const char* option, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw UsageError(base::concat(option, ": named twice: '", name, "'"));
    }
  }
}

std::vector<Planner> planners_from(const std::vector<std::string>& names, double think_seconds) {
  std::vector<Planner> planners;
  require_once("--policy", names);
  const bool is_all = names.empty() || names == std::vector<std::string>{"all"};
  if (!is_all && std::find(names.begin(), names.end(), "all") != names.end()) {
    throw UsageError("--policy: 'all' names every policy, so it stands alone");
  }
  if (is_all) {
    for (const PolicyInfo& info : catalogue()) planners.push_back(make_planner(info.name, {}));
  } else {
    for (const std::string& name : names) planners.push_back(make_planner(name, {}));
  }
  for (Planner& planner : planners) planner.think_seconds = think_seconds;
  return planners;
}

std::vector<std::string> budgets_from(const std::string& text) {
  std::vector<std::string> budgets;
  for (const std::string_view budget : base::split_on(text, ',')) {
    budget_from(budget, 0);  // a bad one should not wait for its turn
    budgets.emplace_back(budget);
  }
  require_once("--budget", budgets);
  return budgets;
}

void require_file(const char* option, const std::string& path) {
  if (path.empty()) return;
  if (path == "-") {
    throw UsageError(base::concat(option, " -: the table goes to standard output; name a file"));
  }
  require_writable(path);
}

}  // namespace

void add_comparison_options(CLI::App& verb, ComparisonOptions& options) {
  add_budgets_option(verb, options.budgets)->required();
  verb.add_option("--policy,--policies,-p", options.policies, "Only these (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_think_option(verb, options.think_seconds);
  const auto add_file = [&](const char* name, std::string& path, const char* help) {
    verb.add_option(name, path, help)->check(not_empty())->type_name("FILE");
  };
  add_file("--csv", options.csv, "Also write a row for each plan");
  add_file("--svg", options.svg, "Also draw step time against budget; for one step");
  add_file("--html", options.html, "Also write a page with plots and tables");
  add_json_option(verb, options.json);
}

ComparisonRun::ComparisonRun(const ComparisonOptions& options)
    : options_(options),
      planners_(planners_from(options.policies, options.think_seconds)),
      budgets_(budgets_from(options.budgets)),
      csv_(comparison_csv_head()) {
  require_file("--csv", options_.csv);
  require_file("--svg", options_.svg);
  require_file("--html", options_.html);
}

void ComparisonRun::add(const PlainStep& step, Console& console) {
  if (was_stopped_) return;
  const std::vector<ComparedPlan> plans = compare(step, planners_, budgets_, console);
  was_stopped_ = StopSignal::came();
  any_fits_ = any_fits_ || std::any_of(plans.begin(), plans.end(),
                                       [](const ComparedPlan& plan) { return !plan.refusal; });
  text_ += (text_.empty() ? "" : "\n") + comparison_text(step, plans, console.style);
  csv_ += comparison_csv(step, plans);
  svg_ = comparison_plot(step, plans);
  sections_ += comparison_section(step, plans);
  documents_.push_back(comparison_json(step, plans));
}

ExitCode ComparisonRun::finish(Console& console) {
  if (!options_.csv.empty()) write_output_file(options_.csv, csv_);
  if (!options_.svg.empty()) write_output_file(options_.svg, svg_);
  if (!options_.html.empty()) write_output_file(options_.html, comparison_page(sections_));
  console.out << (options_.json ? json_text({{"comparisons", documents_}}) : text_);
  if (was_stopped_) {
    print_error(console.err, "stopped; what was not planned by then is left out");
    return ExitCode::kInterrupted;
  }
  if (any_fits_) return ExitCode::kDone;
  print_error(console.err, "no policy fits any of the budgets; the table names the smallest ones");
  return ExitCode::kDoesNotFit;
}

}  // namespace lowtide::cli
