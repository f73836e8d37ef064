// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/run_record.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/json_reader.h"
#include "cost/machine_file.h"
#include "plan/json.h"
#include "report/online_deeds.h"
#include "trace/json.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "lowtide-run";
constexpr std::int64_t kVersion = 1;

const json& member(const json& document, const char* key) {
  const auto found = document.find(key);
  LT_REQUIRE(found != document.end(), "run.", key, ": expected this field, which is missing");
  return *found;
}

json checked_statistics(const json& document) {
  if (!document.contains("statistics")) return json::object();
  const json& statistics = document.at("statistics");
  LT_REQUIRE(statistics.is_object(), "run.statistics: expected an object");
  for (const auto& [name, value] : statistics.items()) {
    LT_REQUIRE(value.is_number() || value.is_string(), "run.statistics.", name,
               ": expected a number or a string");
  }
  return statistics;
}

std::vector<double> checked_seconds(const json& document) {
  std::vector<double> seconds;
  if (!document.contains("step_seconds")) return seconds;
  const json& list = document.at("step_seconds");
  LT_REQUIRE(list.is_array(), "run.step_seconds: expected a list of numbers");
  for (const json& entry : list) {
    LT_REQUIRE(entry.is_number() && std::isfinite(entry.get<double>()) && entry.get<double>() >= 0,
               "run.step_seconds[", seconds.size(), "]: expected a time that is not negative");
    seconds.push_back(entry.get<double>());
  }
  return seconds;
}

policy::AllowedMeans allowed_means(const json& document) {
  const auto is_allowed = [&document](const char* key) {
    if (!document.contains(key)) return true;
    LT_REQUIRE(document.at(key).is_boolean(), "run.", key, ": expected true or false");
    return document.at(key).get<bool>();
  };
  const policy::AllowedMeans allowed{.recompute = is_allowed("may_recompute"),
                                     .move = is_allowed("may_move")};
  LT_REQUIRE(allowed.recompute || allowed.move,
             "run.may_move: expected true where may_recompute is false");
  return allowed;
}

std::int64_t not_negative(const base::JsonReader& in, const char* key) {
  const std::int64_t value = in.integer(key, 0);
  LT_REQUIRE(value >= 0, "run.", key, ": expected no less than 0, found ", value);
  return value;
}

}  // namespace

std::int64_t RunRecord::step_budget_bytes() const {
  if (budget_bytes == 0) return 0;
  return std::max<std::int64_t>(budget_bytes - outside_bytes, 1);
}

RunRecord parse_run_record(std::string_view text) {
  const json document = base::parse_json_document(text, kFormat, kVersion);
  const base::JsonReader in(document, "run");
  RunRecord record;
  record.title = in.string("title");
  record.device = in.string("device");
  record.policy = in.string("policy", "");
  record.budget_bytes = not_negative(in, "budget_bytes");
  record.outside_bytes = not_negative(in, "outside_bytes");
  record.batch = not_negative(in, "batch");
  record.allowed = allowed_means(document);
  record.trace = std::make_shared<const Trace>(trace::parse_json(member(document, "trace").dump()));
  LT_REQUIRE(!record.trace->ops().empty(), "run.trace.ops: expected a step with at least one op");
  record.machine = cost::parse_machine(member(document, "machine").dump());
  const json& plan = member(document, "plan");
  if (!plan.is_null()) {
    record.plan = plan::parse_json(plan.dump(), {.trace = record.trace, .machine = record.machine});
  }
  if (in.has("online") && !document.at("online").is_null()) {
    LT_REQUIRE(!record.plan, "run.online: expected null beside a plan: one of them tells what was ",
               "done with the step");
    record.online = parse_online_deeds(in, *record.trace);
  }
  record.statistics = checked_statistics(document);
  record.step_seconds = checked_seconds(document);
  return record;
}

std::string print_run_record(const RunRecord& record) {
  json document{{"format", kFormat},
                {"version", kVersion},
                {"title", record.title},
                {"device", record.device},
                {"policy", record.policy},
                {"budget_bytes", record.budget_bytes},
                {"outside_bytes", record.outside_bytes},
                {"batch", record.batch},
                {"may_recompute", record.allowed.recompute},
                {"may_move", record.allowed.move},
                {"trace", json::parse(trace::print_json(*record.trace))},
                {"machine", json::parse(cost::print_machine(record.machine))},
                {"plan", nullptr},
                {"online", nullptr},
                {"statistics", record.statistics},
                {"step_seconds", record.step_seconds}};
  if (record.plan) {
    const Problem problem{.trace = record.trace, .machine = record.machine};
    document["plan"] = json::parse(plan::print_json(*record.plan, problem));
  }
  if (record.online) document["online"] = online_deeds_json(*record.online);
  return document.dump() + "\n";
}

bool is_run_record(std::string_view text) {
  // Cut short it is no JSON any more, but still meant as one. Keys stand in order of their names,
  // so this one comes long after the start.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  return text.find("\"lowtide-run\"") != std::string_view::npos;
}

}  // namespace lowtide::report
