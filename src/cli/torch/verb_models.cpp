// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/table.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "zoo/listing.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide models\n"
    "  lowtide models --json";

nlohmann::json models_json() {
  nlohmann::json models = nlohmann::json::array();
  for (const zoo::ModelRow& row : zoo::list_models()) {
    models.push_back({{"name", row.info.name},
                      {"family", row.info.family},
                      {"paper", row.info.paper},
                      {"options", row.info.options},
                      {"summary", row.info.summary},
                      {"parameters", row.parameters},
                      {"input", row.input_text}});
  }
  return {{"models", models}};
}

std::string models_table(const Style& style) {
  Table table({{"model"}, {"parameters", Align::kRight}, {"input"}, {"what it is"}, {"paper"}});
  for (const zoo::ModelRow& row : zoo::list_models()) {
    table.add({{row.info.name, std::to_string(row.parameters), row.input_text, row.info.summary,
                row.info.paper}});
  }
  return table.text(style);
}

}  // namespace

Verb add_models(CLI::App& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = program.add_subcommand("models", "List the models that can be trained");
  add_json_option(*verb, *json);
  verb->footer(kExamples);
  return Verb{verb, [json](Console& console) {
                console.out << (*json ? json_text(models_json()) : models_table(console.style));
                return ExitCode::kDone;
              }};
}

}  // namespace lowtide::cli
