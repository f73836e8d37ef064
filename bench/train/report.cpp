// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report.h"

#include <algorithm>
#include <optional>
#include <ostream>

#include <nlohmann/json.hpp>

#include "base/printed.h"

namespace lowtide::bench {
namespace {

using base::printed;

constexpr double kGib = 1024.0 * 1024 * 1024;

std::string gib(std::int64_t bytes) { return printed("%.2f", static_cast<double>(bytes) / kGib); }

double row_median_seconds(const Row& row) {
  std::vector<double> all;
  for (const auto& round : row.step_seconds) all.insert(all.end(), round.begin(), round.end());
  return median(all);
}

std::string spread(const std::vector<double>& values, const char* form) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return printed(form, *low) + ".." + printed(form, *high);
}

const char* bits(const Row& row) {
  if (row.matches()) return "same";
  return row.losses_match && row.parameters_match ? "buffers differ" : "DIFFER";
}

std::string prediction(const Row& row) {
  return row.mode.predicted_ratio ? printed("%.2f", *row.mode.predicted_ratio) : "refused";
}

std::string guidance(const Row& row) {
  const SessionStats& s = row.session;
  if (s.guided_steps == 0) return s.no_plan_reason.empty() ? "-" : s.no_plan_reason;
  const double followed = row.each_step(&SessionStats::guided_steps) -
                          row.each_step(&SessionStats::guidance_broken_off);
  return printed("%.0f of %d", followed * row.timed_steps, row.timed_steps) +
         printed(", %.0f prefetched", row.each_step(&SessionStats::prefetches)) +
         printed(", %.0f skipped", row.each_step(&SessionStats::actions_skipped)) +
         printed(", predicted %.1f ms", 1e3 * s.predicted_step_seconds) +
         printed(", stalled %.1f ms", 1e3 * s.stall_seconds) +
         (s.plans_dropped > 0 ? ", dropped" : "");
}

void print_row(std::ostream& out, const Row& row) {
  const std::string start = printed("| %-20s | %s |", row.mode.name.c_str(),
                                    row.budget_bytes > 0 ? gib(row.budget_bytes).c_str() : "-");
  if (!row.failure.empty()) {
    const std::string why = row.is_refused()
                                ? "refused; its op needs " + gib(row.smallest_budget_bytes) + " GiB"
                                : row.failure.substr(0, 120);
    out << start << " " << why << " | | " << prediction(row) << " | | | | | | | |\n";
    return;
  }
  const SessionStats& s = row.session;
  out << start
      << printed(" %.1f (%.1f) |", 1e3 * row_median_seconds(row), 1e3 * median(row.host_seconds))
      << printed(" %.3f (", median(row.ratios)) << spread(row.ratios, "%.3f") << ") | "
      << prediction(row) << " | " << gib(row.torch.allocated_peak_bytes) << " / "
      << gib(row.torch.reserved_peak_bytes) << " | " << gib(s.peak_bytes) << " / "
      << gib(s.reserved_peak_bytes) << " | "
      << printed("%.0f / %.0f", row.each_step(&SessionStats::evictions),
                 row.each_step(&SessionStats::recomputes))
      << " | "
      << printed("%.2f / %.2f", row.each_step(&SessionStats::bytes_to_host) / kGib,
                 row.each_step(&SessionStats::bytes_from_host) / kGib)
      << " | "
      << printed("%.1f / %.1f / %.1f", row.each_step(&SessionStats::stitches),
                 static_cast<double>(row.torch.cache_flushes) / row.timed_steps,
                 static_cast<double>(row.torch.failures) / row.timed_steps)
      << " | " << guidance(row) << " | " << bits(row) << " |\n";
}

// What the simulator said of the plan over what was measured.
struct PredictionRatios {
  double seconds = 0;
  double peak = 0;
};

std::optional<PredictionRatios> prediction_ratios(const Row& row) {
  const SessionStats& s = row.session;
  const bool is_guided = s.guided_steps > s.guidance_broken_off && s.plans_dropped == 0;
  if (!row.failure.empty() || !is_guided || row.timed_peak_bytes == 0) return std::nullopt;
  return PredictionRatios{.seconds = s.predicted_step_seconds / row_median_seconds(row),
                          .peak = static_cast<double>(s.predicted_peak_bytes) /
                                  static_cast<double>(row.timed_peak_bytes)};
}

void print_prediction_ratios(std::ostream& out, const std::vector<Row>& rows) {
  std::vector<double> seconds;
  std::vector<double> peaks;
  for (const Row& row : rows) {
    const auto ratios = prediction_ratios(row);
    if (!ratios) continue;
    if (seconds.empty())
      out << "\n| predicted by the simulator / measured | step | peak |\n|---|---|---|\n";
    out << "| " << row.mode.name << printed(" | %.3f | %.3f |\n", ratios->seconds, ratios->peak);
    seconds.push_back(ratios->seconds);
    peaks.push_back(ratios->peak);
  }
  if (seconds.empty()) return;
  out << printed("| median | %.3f | %.3f |\n", median(seconds), median(peaks));
}

}  // namespace

void print(std::ostream& out, const Measurement& measurement) {
  const WorkOptions& work = measurement.work;
  out << "\n"
      << work.model << ", batch " << work.batch << ", size " << work.size << ", " << work.device
      << ": plain peak " << gib(measurement.plain_peak_bytes) << " GiB, " << measurement.rounds
      << " rounds\n"
      << "| mode | budget GiB | step ms (host) | of plain (least..most) | predicted | torch's peak "
         "GiB: "
         "allocated / reserved | session's | evictions / recomputes a step | GiB to / from host a "
         "step | stitches / torch's cache flushes / failures a step | guided steps | bits |\n"
      << "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Row& row : measurement.rows) print_row(out, row);
  print_prediction_ratios(out, measurement.rows);
}

void print(std::ostream& out, const std::vector<OpCost>& costs) {
  out << "\n| host cost of an op, ns | device | ops | plain | watching adds (least..most) | a "
         "budget "
         "that fits adds |\n|---|---|---|---|---|---|\n";
  for (const OpCost& cost : costs) {
    out << "| " << cost.name << " | " << cost.device << " | " << cost.ops << " | "
        << printed("%.0f", median(cost.plain)) << " | " << printed("%.0f (", median(cost.watching))
        << spread(cost.watching, "%.0f") << ") | " << printed("%.0f (", median(cost.fits))
        << spread(cost.fits, "%.0f") << ") |\n";
  }
}

nlohmann::json to_json(const Row& row) {
  const SessionStats& s = row.session;
  nlohmann::json json = {
      {"mode", row.mode.name},
      {"budget_bytes", row.budget_bytes},
      {"predicted_ratio", nullptr},
      {"step_seconds", row.step_seconds},
      {"host_seconds", row.host_seconds},
      {"processor_seconds", row.processor_seconds},
      {"ratios", row.ratios},
      {"torch_allocated_peak_bytes", row.torch.allocated_peak_bytes},
      {"torch_reserved_peak_bytes", row.torch.reserved_peak_bytes},
      {"torch_cache_flushes", row.torch.cache_flushes},
      {"torch_failures", row.torch.failures},
      {"session_peak_bytes", s.peak_bytes},
      {"session_reserved_peak_bytes", s.reserved_peak_bytes},
      {"host_peak_bytes", s.host_peak_bytes},
      {"timed_steps", row.timed_steps},
      {"ops_a_step", row.each_step(&SessionStats::ops)},
      {"drops_a_step", row.each_step(&SessionStats::drops)},
      {"moves_a_step", row.each_step(&SessionStats::moves)},
      {"recomputes_a_step", row.each_step(&SessionStats::recomputes)},
      {"recompute_seconds_a_step", row.each_step(&SessionStats::recompute_seconds)},
      {"bytes_to_host_a_step", row.each_step(&SessionStats::bytes_to_host)},
      {"bytes_from_host_a_step", row.each_step(&SessionStats::bytes_from_host)},
      {"kept_unsafe", s.kept_unsafe},
      {"chunked_ops", s.chunked_ops},
      {"steps_aside", s.steps_aside},
      {"overflow_bytes", s.overflow_bytes},
      {"stitches", s.stitches},
      {"relocations", s.relocations},
      {"stitches_in_warm_up", row.warm_up.stitches},
      {"shortages_a_step", row.each_step(&SessionStats::shortages)},
      {"guided_steps", s.guided_steps},
      {"guidance_broken_off", s.guidance_broken_off},
      {"prefetches", s.prefetches},
      {"actions_skipped", s.actions_skipped},
      {"plans_dropped", s.plans_dropped},
      {"stall_seconds", s.stall_seconds},
      {"fetches_hurried", s.fetches_hurried},
      {"plan_seconds", s.plan_seconds},
      {"predicted_step_seconds", s.predicted_step_seconds},
      {"predicted_peak_bytes", s.predicted_peak_bytes},
      {"timed_peak_bytes", row.timed_peak_bytes},
      {"no_plan_reason", s.no_plan_reason},
      {"losses_match", row.losses_match},
      {"parameters_match", row.parameters_match},
      {"buffers_match", row.buffers_match},
  };
  if (row.mode.predicted_ratio) json["predicted_ratio"] = *row.mode.predicted_ratio;
  if (!row.failure.empty()) json["failure"] = row.failure;
  if (row.is_refused()) {
    json["smallest_budget_bytes"] = row.smallest_budget_bytes;
    json["usable_after"] = row.is_usable_after;
  }
  return json;
}

nlohmann::json to_json(const Measurement& measurement) {
  const WorkOptions& work = measurement.work;
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : measurement.rows) rows.push_back(to_json(row));
  return {{"model", work.model},
          {"device", work.device},
          {"batch", work.batch},
          {"size", work.size},
          {"rounds", measurement.rounds},
          {"plain_peak_bytes", measurement.plain_peak_bytes},
          {"plain_repeats", measurement.plain_repeats},
          {"rows", rows}};
}

nlohmann::json to_json(const std::vector<OpCost>& costs) {
  nlohmann::json rows = nlohmann::json::array();
  for (const OpCost& cost : costs) {
    rows.push_back({{"name", cost.name},
                    {"device", cost.device},
                    {"ops", cost.ops},
                    {"plain_nanoseconds", cost.plain},
                    {"watching_adds_nanoseconds", cost.watching},
                    {"fits_adds_nanoseconds", cost.fits}});
  }
  return rows;
}

}  // namespace lowtide::bench
