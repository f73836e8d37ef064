// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/decompose_text.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string form_of(const ctdr::Report& report, const std::string& layer) {
  const auto found = report.forms.find(layer);
  return found == report.forms.end() ? "dense" : to_string(found->second);
}

// Why it is what it is.
std::string reason_of(const ctdr::Report& report, const ctdr::LayerChoice& layer) {
  const bool is_dense = !report.forms.contains(layer.layer);
  if (is_dense && layer.option && report.undone.contains(layer.layer)) {
    return base::concat("dense again, for the accuracy: it raised the loss by ",
                        fixed(layer.option->loss_rise, 4), "; ", layer.reason);
  }
  if (!is_dense && layer.worth <= 0) return "taken, though by itself it " + layer.reason;
  if (!is_dense || !layer.option || layer.worth <= 0) return layer.reason;
  return "left dense: with it the step was no quicker";
}

std::string layers_text(const ctdr::Report& report, const Style& style) {
  Table table(
      {{"layer"}, {"becomes"}, {"error", Align::kRight}, {"loss rise", Align::kRight}, {"why"}});
  for (const ctdr::LayerChoice& layer : report.choice.layers) {
    const bool is_changed = report.forms.contains(layer.layer);
    table.add({{layer.layer, form_of(report, layer.layer),
                is_changed ? fixed(layer.option->relative_error, 3) : "",
                is_changed ? fixed(layer.option->loss_rise, 4) : "", reason_of(report, layer)}});
  }
  return table.text(style);
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? base::format_seconds(*seconds) : "no plan fits";
}

std::string accuracy_text(const ctdr::Report& report) {
  std::string text = base::concat(format_percent(report.before->accuracy), " before");
  if (!report.recovery) return text + "; nothing was changed";
  const ctdr::Recovery& recovery = *report.recovery;
  return base::concat(text, ", ", format_percent(recovery.after_decomposition.accuracy),
                      " after decomposing", recovery.norms > 0 ? " (norms settled)" : "", ", ",
                      format_percent(recovery.after_fine_tuning.accuracy), " after ",
                      recovery.evaluated_step, " steps of fine-tuning",
                      recovery.was_interrupted ? base::concat(" of ", recovery.steps) : "", " in ",
                      base::format_seconds(recovery.seconds));
}

json judgement_json(const ctdr::Judgement& judgement) {
  json result = {{"plain_peak_bytes", judgement.plain_peak_bytes},
                 {"plain_step_seconds", judgement.plain_seconds}};
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    const auto kind = static_cast<StorageKind>(i);
    result["plain_bytes"][std::string(to_string(kind))] = judgement.plain_bytes[i];
  }
  if (judgement.planned_seconds) {
    result["planned_step_seconds"] = *judgement.planned_seconds;
    result["planned_peak_bytes"] = judgement.planned_peak_bytes;
  } else {
    result["smallest_budget_bytes"] = judgement.smallest_budget_bytes;
  }
  return result;
}

json layer_json(const ctdr::Report& report, const ctdr::LayerChoice& layer) {
  json result = {{"layer", layer.layer},
                 {"form", form_of(report, layer.layer)},
                 {"reason", reason_of(report, layer)},
                 {"dense_seconds", layer.dense_seconds}};
  if (layer.option) {
    result["best_option"] = {{"form", to_string(layer.option->form)},
                             {"seconds", layer.option->seconds},
                             {"parameters", layer.option->parameters},
                             {"state_bytes_saved", layer.option->state_bytes_saved},
                             {"extra_activation_bytes", layer.option->extra_activation_bytes},
                             {"relative_error", layer.option->relative_error},
                             {"loss_rise", layer.option->loss_rise},
                             {"worth", layer.worth}};
  }
  return result;
}

}  // namespace

std::string decompose_text(const ctdr::Report& report, const Style& style) {
  FactList facts(style);
  facts.add("parameters", base::concat(report.dense_parameters, " before, ", report.parameters,
                                       " after; ", report.forms.size(), " layers decomposed"));
  const ctdr::Judgement& dense = report.dense().judgement;
  const ctdr::Judgement& chosen = report.chosen().judgement;
  facts.add("plain step", base::concat("dense ", base::format_bytes(dense.plain_peak_bytes),
                                       " and ", base::format_seconds(dense.plain_seconds),
                                       ", chosen ", base::format_bytes(chosen.plain_peak_bytes),
                                       " and ", base::format_seconds(chosen.plain_seconds)));
  if (report.budget_bytes > 0) {
    facts.add("in budget", base::concat(base::format_bytes(report.budget_bytes),
                                        ", simulated: dense ", seconds_text(dense.planned_seconds),
                                        ", chosen ", seconds_text(chosen.planned_seconds)));
  }
  if (report.recovery && report.recovery->step_seconds) {
    facts.add("fine-tuning",
              base::concat(base::format_bytes(report.recovery->peak_bytes), " at most, ",
                           base::format_seconds(*report.recovery->step_seconds),
                           " a step, measured; optimizer states started over"));
  }
  facts.add("accuracy", accuracy_text(report));
  if (const auto& batches = report.max_batch) {
    facts.add("batch", base::concat("within ", base::format_bytes(batches->budget_bytes),
                                    " at most ", batches->plain ? batches->plain->batch : 0,
                                    " plainly, ", batches->managed.batch, " under Lowtide"));
  }
  if (report.raises > 0) {
    facts.add("ranks", base::concat("raised ", report.raises, " times, ", report.undone.size(),
                                    " layers dense again for the accuracy"));
  }
  if (!report.written.empty()) facts.add("weights", report.written);
  return layers_text(report, style) + "\n" + facts.text();
}

json decompose_json(const ctdr::Report& report) {
  json result = {{"model", report.training.model},
                 {"data", report.training.data},
                 {"device", report.training.device},
                 {"batch", report.training.batch},
                 {"optimizer", report.training.optimizer},
                 {"seed", report.training.seed},
                 {"parameters_before", report.dense_parameters},
                 {"parameters", report.parameters},
                 {"accuracy_before", report.before->accuracy},
                 {"loss_before", report.before->loss},
                 {"raises", report.raises},
                 {"untrained_layers", report.untrained},
                 {"dense", judgement_json(report.dense().judgement)},
                 {"chosen", judgement_json(report.chosen().judgement)}};
  if (report.budget_bytes > 0) result["budget_bytes"] = report.budget_bytes;
  if (!report.written.empty()) result["output"] = report.written;
  if (!report.stopped.empty()) result["stopped"] = report.stopped;
  for (const ctdr::LayerChoice& layer : report.choice.layers) {
    result["layers"].push_back(layer_json(report, layer));
  }
  for (const ctdr::Trial& trial : report.choice.trials) {
    result["trials"].push_back(judgement_json(trial.judgement));
    result["trials"].back()["layers"] = trial.forms.size();
  }
  if (const auto& batches = report.max_batch) {
    result["max_batch"] = {{"budget_bytes", batches->budget_bytes},
                           {"plain", batches->plain ? batches->plain->batch : 0},
                           {"managed", batches->managed.batch}};
  }
  for (const ctdr::Attempt& attempt : report.attempts) {
    const ctdr::Recovery& recovery = attempt.recovery;
    result["before_raises"].push_back(
        {{"layers", attempt.layers},
         {"parameters", attempt.parameters},
         {"accuracy_after_decomposition", recovery.after_decomposition.accuracy},
         {"accuracy_after_fine_tuning", recovery.after_fine_tuning.accuracy},
         {"fine_tuning_steps", recovery.steps},
         {"fine_tuning_seconds", recovery.seconds}});
  }
  if (!report.recovery) return result;
  const ctdr::Recovery& recovery = *report.recovery;
  result["accuracy_after_decomposition"] = recovery.after_decomposition.accuracy;
  result["loss_after_decomposition"] = recovery.after_decomposition.loss;
  result["accuracy_after_fine_tuning"] = recovery.after_fine_tuning.accuracy;
  result["loss_after_fine_tuning"] = recovery.after_fine_tuning.loss;
  result["accuracy_is_back"] = recovery.is_back;
  result["fine_tuning_steps"] = recovery.steps;
  result["evaluated_step"] = recovery.evaluated_step;
  result["fine_tuning_seconds"] = recovery.seconds;
  result["peak_bytes"] = recovery.peak_bytes;
  if (recovery.step_seconds) result["step_seconds"] = *recovery.step_seconds;
  return result;
}

}  // namespace lowtide::cli
