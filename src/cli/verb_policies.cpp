// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/policy_pages.h"
#include "cli/step.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace lowtide::cli {
namespace {

struct PoliciesOptions {
  std::string name;
  bool json = false;
  bool markdown = false;
};

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide policies            all of them\n"
    "  lowtide policies capuchin   one, with its options\n"
    "  lowtide policies --markdown all of them for docs/policies.md";

ExitCode run_policies(const PoliciesOptions& options, Console& console) {
  if (options.json && options.markdown) {
    throw UsageError("--json and --markdown exclude each other; choose one");
  }
  if (!options.name.empty()) {
    const PolicyInfo& info = find_policy(options.name);
    console.out << (options.json       ? json_text(policy_json(info))
                    : options.markdown ? policy_markdown(info)
                                       : policy_page(info, console.style));
    return ExitCode::kDone;
  }
  console.out << (options.json       ? json_text(catalogue_json())
                  : options.markdown ? catalogue_markdown()
                                     : catalogue_table(console.style));
  return ExitCode::kDone;
}

}  // namespace

Verb add_policies(CLI::App& program) {
  auto options = std::make_shared<PoliciesOptions>();
  CLI::App* verb = program.add_subcommand("policies", "List the policies and their options");
  verb->add_option("NAME", options->name, "Show this one with its options")->type_name("");
  add_json_option(*verb, options->json);
  verb->add_flag("--markdown", options->markdown, "Print the catalogue of docs/policies.md");
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_policies(*options, console); }};
}

}  // namespace lowtide::cli
