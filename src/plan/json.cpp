// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_reader.h"
#include "plan/action_words.h"
#include "plan/text.h"

namespace lowtide::plan {
namespace {

using base::JsonReader;
using nlohmann::json;

constexpr std::int64_t kVersion = 1;

// The words of a text line, owned: action_from_words takes views.
using Spelled = std::vector<std::string>;

// Looks names up, and puts the path in front of what a NameTable complains of.
template <class Lookup>
auto resolve(const std::string& path, Lookup lookup) {
  try {
    return lookup();
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat(path, ": ", error.what()));
  }
}

// What stands under a field, as the text form spells it.
std::string spelled_field(const json& object, const ActionForm::Field& field,
                          const std::string& path) {
  const json& found = object.at(field.name);
  if (field.is_number && found.is_number_integer()) return found.dump();
  const bool is_end = found.is_string() && found.get_ref<const std::string&>() == "end";
  LT_REQUIRE(field.is_number ? is_end : found.is_string(), path, ".", field.name, ": expected ",
             field.is_number ? "a whole number" : "a string");
  return found.get<std::string>();
}

Spelled spelled_order(const JsonReader& in) {
  LT_REQUIRE(in.has("ops"), in.path(), ".ops: expected this field, which is missing");
  Spelled words{"order"};
  for (const std::int64_t op : in.integers("ops")) words.push_back(std::to_string(op));
  return words;
}

Spelled spelled_action(const json& object, const JsonReader& in) {
  const std::string name = in.string("do");
  if (name == "order") return spelled_order(in);
  const ActionForm* form = find_form(name);
  Spelled words{name};
  if (form == nullptr) return words;  // for action_from_words to complain of
  for (const ActionForm::Field& field : form->plain) {
    LT_REQUIRE(in.has(field.name), in.path(), ".", field.name,
               ": expected this field, which is missing");
    words.push_back(spelled_field(object, field, in.path()));
  }
  for (const ActionForm::Field& field : form->keyed) {
    if (!in.has(field.name)) continue;
    words.emplace_back(field.name);
    words.push_back(spelled_field(object, field, in.path()));
  }
  return words;
}

json field_json(const ActionForm::Field& field, const std::string& word) {
  if (!field.is_number || word == "end") return word;
  return json(std::stoll(word));
}

json action_json(const Action& action, const Problem& problem) {
  const Spelled words = to_words(action, problem);
  json result{{"do", words[0]}};
  if (const auto* order = std::get_if<Order>(&action)) {
    result["ops"] = json::array();
    for (const OpId op : order->sequence) result["ops"].push_back(op.index);
    return result;
  }
  const ActionForm& form = *find_form(words[0]);
  std::size_t at = 1;
  for (const ActionForm::Field& field : form.plain) {
    result[field.name] = field_json(field, words[at++]);
  }
  for (const ActionForm::Field& field : form.keyed) {
    if (at >= words.size() || words[at] != field.name) continue;
    result[words[at]] = field_json(field, words[at + 1]);
    at += 2;
  }
  return result;
}

OnlineRule read_online(const json& object) {
  const JsonReader in(object, "plan.online");
  OnlineRule rule{.policy = in.string("policy"), .options = {}};
  if (!in.has("options")) return rule;
  const json& options = object.at("options");
  LT_REQUIRE(options.is_object(), "plan.online.options: expected an object");
  for (const auto& [key, value] : options.items()) {
    LT_REQUIRE(value.is_string(), "plan.online.options.", key, ": expected a string");
    rule.options.emplace(key, value.get<std::string>());
  }
  return rule;
}

void read_starts(const JsonReader& in, const NameTable& names, Plan& plan) {
  in.for_each("starts", [&](const JsonReader& start) {
    const std::string storage = start.string("storage");
    const std::string tier = start.string("tier");
    plan.starts.push_back(resolve(start.path(), [&] {
      return StartsIn{names.storage(storage), names.tier(tier)};
    }));
  });
}

void read_actions(const json& document, const JsonReader& in, const NameTable& names, Plan& plan) {
  std::size_t next = 0;
  in.for_each("actions", [&](const JsonReader& action) {
    const json& object = document.at("actions")[next++];
    const Spelled words = spelled_action(object, action);
    plan.actions.push_back(resolve(action.path(), [&] {
      return action_from_words({words.begin(), words.end()}, names);
    }));
  });
}

}  // namespace

Plan parse_json(std::string_view text, const Problem& problem) {
  const json document = base::parse_json_document(text, "lowtide-plan", kVersion);
  const JsonReader in(document, "plan");
  Plan plan;
  plan.policy = in.string("policy");
  plan.trace_digest = in.string("trace_digest");
  require_digest(plan.trace_digest, *problem.trace);
  plan.budget_bytes = in.integer("budget_bytes");
  const NameTable names(problem);
  read_starts(in, names, plan);
  read_actions(document, in, names, plan);
  if (in.has("online")) plan.online = read_online(document.at("online"));
  require_printable(plan, problem);
  return plan;
}

std::string print_json(const Plan& plan, const Problem& problem) {
  require_digest(plan.trace_digest, *problem.trace);
  require_printable(plan, problem);
  json document{{"format", "lowtide-plan"},
                {"version", kVersion},
                {"policy", plan.policy},
                {"trace_digest", plan.trace_digest},
                {"budget_bytes", plan.budget_bytes},
                {"starts", json::array()},
                {"actions", json::array()}};
  for (const StartsIn& start : plan.starts) {
    document["starts"].push_back({{"storage", problem.trace->storage(start.storage).name},
                                  {"tier", problem.machine.tier(start.tier).name}});
  }
  for (const Action& action : plan.actions) {
    document["actions"].push_back(action_json(action, problem));
  }
  if (plan.online) {
    document["online"] = {{"policy", plan.online->policy}, {"options", plan.online->options}};
  }
  return document.dump(1) + "\n";
}

Plan parse_any(std::string_view text, const Problem& problem) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  LT_REQUIRE(first != std::string_view::npos, "the plan is empty");
  return text[first] == '{' ? parse_json(text, problem) : parse_text(text, problem);
}

}  // namespace lowtide::plan
