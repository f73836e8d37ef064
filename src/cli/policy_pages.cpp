// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/policy_pages.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// A cell of a Markdown table ends at a bar.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::size_t page_width(const Style& style) {
  constexpr int kWidest = 100;
  constexpr int kNarrowest = 50;
  return static_cast<std::size_t>(std::clamp(style.columns, kNarrowest, kWidest));
}

// Who carries its plans out.
std::string carried_out_by(const PolicyInfo& info) {
  return info.executable ? "the engine carries them out" : "only simulated";
}

// "host memory; codecs (where storages name any; then only simulated)".
std::string needs_text(const PolicyInfo& info) {
  std::string text;
  for (const PolicyNeed& need : info.needs) {
    std::string condition = need.when;
    if (!engine_has(need.need))
      condition += condition.empty() ? "only simulated" : "; only simulated";
    text += base::concat(text.empty() ? "" : "; ", to_string(need.need),
                         condition.empty() ? "" : " (" + condition + ")");
  }
  return text.empty() ? "nothing" : text;
}

json needs_json(const PolicyInfo& info) {
  json needs = json::array();
  for (const PolicyNeed& need : info.needs) {
    needs.push_back({{"need", to_string(need.need)},
                     {"when", need.when},
                     {"engine_has", engine_has(need.need)}});
  }
  return needs;
}

}  // namespace

std::string catalogue_table(const Style& style) {
  std::size_t name_width = 0;
  std::size_t mechanisms_width = 0;
  for (const PolicyInfo& info : catalogue()) {
    name_width = std::max(name_width, info.name.size());
    mechanisms_width = std::max(mechanisms_width, info.mechanisms.size());
  }
  const std::size_t indent = name_width + mechanisms_width + 4;
  std::string text;
  for (const PolicyInfo& info : catalogue()) {
    text += bold(info.name, style) + std::string(name_width + 2 - info.name.size(), ' ') +
            info.mechanisms + std::string(mechanisms_width + 2 - info.mechanisms.size(), ' ') +
            wrap(info.summary, page_width(style), indent) + "\n";
    if (info.paper.empty()) continue;
    text += std::string(indent, ' ') + wrap(info.paper, page_width(style), indent) + "\n";
  }
  return text + "\n'lowtide policies NAME' shows one with its options.\n";
}

std::string policy_page(const PolicyInfo& info, const Style& style) {
  constexpr std::size_t kIndent = 12;
  const auto field = [&style](std::string name, const std::string& text) {
    name.resize(kIndent, ' ');
    return bold(name, style) + wrap(text, page_width(style), kIndent) + "\n";
  };
  std::string text = field("name", info.name) + field("summary", info.summary) +
                     field("mechanisms", info.mechanisms) + field("paper", or_dash(info.paper)) +
                     field("plans", carried_out_by(info)) + field("needs", needs_text(info)) +
                     field("well", info.does_well) + field("badly", info.does_badly) +
                     field("why", info.why);
  if (info.options.empty()) return text + field("options", "none");
  text += bold("options", style) + "\n";
  for (const OptionInfo& option : info.options) {
    text += base::concat("  ", option.name, "=", option.default_value, "\n", std::string(6, ' '),
                         wrap(option.help, page_width(style), 6), "\n");
  }
  return text + "\nSet one with --option KEY=VALUE; shown are the defaults.\n";
}

std::string policy_markdown(const PolicyInfo& info) {
  std::string text =
      base::concat("### `", info.name, "`\n\n", info.summary, "\n\n- Mechanisms: ", info.mechanisms,
                   "\n- Paper: ", or_dash(info.paper), "\n- Plans: ", carried_out_by(info),
                   "\n- Needs: ", needs_text(info), "\n- Does well: ", info.does_well,
                   "\n- Does badly: ", info.does_badly, "\n- Why: ", info.why, "\n");
  if (info.options.empty()) return text;
  text += "\n| option | default | meaning |\n|---|---|---|\n";
  for (const OptionInfo& option : info.options) {
    text += base::concat("| `", option.name, "` | `", escaped(option.default_value), "` | ",
                         escaped(option.help), " |\n");
  }
  return text;
}

std::string catalogue_markdown() {
  std::string text =
      "## The catalogue\n\n"
      "Who carries plans out is the engine, or only the simulator.\n\n"
      "| policy | saves memory by | carried out by | paper | summary |\n|---|---|---|---|---|\n";
  for (const PolicyInfo& info : catalogue()) {
    text += base::concat("| [`", info.name, "`](#", info.name, ") | ", escaped(info.mechanisms),
                         " | ", escaped(or_dash(info.paper)), " | ", escaped(info.summary), " |\n");
  }
  for (const PolicyInfo& info : catalogue()) text += "\n" + policy_markdown(info);
  return text;
}

json policy_json(const PolicyInfo& info) {
  json options = json::array();
  for (const OptionInfo& option : info.options) {
    options.push_back(
        {{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
  }
  return {
      {"name", info.name},       {"mechanisms", info.mechanisms}, {"paper", info.paper},
      {"summary", info.summary}, {"does_well", info.does_well},   {"does_badly", info.does_badly},
      {"why", info.why},         {"executable", info.executable}, {"needs", needs_json(info)},
      {"options", options}};
}

json catalogue_json() {
  json policies = json::array();
  for (const PolicyInfo& info : catalogue()) policies.push_back(policy_json(info));
  return {{"policies", policies}};
}

}  // namespace lowtide::cli
