// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/report_json.h"

namespace lowtide::cli {
namespace {

template <class Value>
void put(nlohmann::json& to, const char* name, const std::optional<Value>& value) {
  if (value) to[name] = *value;
}

void put_stats(nlohmann::json& to, const SessionStats& stats) {
  to["peak_bytes"] = stats.peak_bytes;
  to["reserved_peak_bytes"] = stats.reserved_peak_bytes;
  to["evictions"] = stats.evictions;
  to["recomputes"] = stats.recomputes;
  to["recompute_seconds"] = stats.recompute_seconds;
  to["bytes_to_host"] = stats.bytes_to_host;
  to["bytes_to_disk"] = stats.bytes_to_disk;
  to["stall_seconds"] = stats.stall_seconds;
  to["plan_seconds"] = stats.plan_seconds;
}

}  // namespace

nlohmann::json report_json(const train::Report& report) {
  nlohmann::json json = {
      {"model", report.training.model},    {"data", report.training.data},
      {"device", report.training.device},  {"policy", report.policy},
      {"batch", report.training.batch},    {"optimizer", report.training.optimizer},
      {"seed", report.training.seed},      {"steps", report.steps_done},
      {"steps_of_this_run", report.steps}, {"interrupted", report.was_interrupted}};
  if (report.budget_bytes > 0) json["budget_bytes"] = report.budget_bytes;
  put(json, "plain_peak_bytes", report.plain_peak_bytes);
  put(json, "step_seconds", report.step_seconds);
  put(json, "loss", report.loss);
  if (report.evaluation) {
    json["accuracy"] = report.evaluation->accuracy;
    json["evaluation_loss"] = report.evaluation->loss;
  }
  for (const train::DatedEvaluation& dated : report.evaluations) {
    json["evaluations"].push_back({{"step", dated.step},
                                   {"accuracy", dated.evaluation.accuracy},
                                   {"loss", dated.evaluation.loss}});
  }
  if (!report.checkpoint.empty()) json["checkpoint"] = report.checkpoint;
  put_stats(json, report.stats);
  return json;
}

nlohmann::json verdict_json(const train::Verdict& verdict) {
  nlohmann::json json = report_json(verdict.report);
  json["steps"] = verdict.compared_steps;
  json.erase("steps_of_this_run");
  // Of a part of the steps nobody knows.
  const bool is_known = verdict.difference || !verdict.report.was_interrupted;
  json["identical"] = is_known ? nlohmann::json(!verdict.difference) : nlohmann::json(nullptr);
  put(json, "plain_step_seconds", verdict.plain_step_seconds);
  if (verdict.plain_step_seconds && verdict.report.step_seconds) {
    json["overhead"] = *verdict.report.step_seconds / *verdict.plain_step_seconds - 1;
  }
  if (verdict.difference) {
    nlohmann::json& first = json["first_difference"];
    first = {{"step", verdict.difference->step}, {"tensor", verdict.difference->tensor}};
    if (const auto& element = verdict.difference->element) {
      first["element"] = element->element;
      first["plain"] = element->wanted;
      first["managed"] = element->got;
    }
  }
  return json;
}

}  // namespace lowtide::cli
