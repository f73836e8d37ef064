// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/price_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "base/printed.h"
#include "cli/figures.h"
#include "cli/table.h"
#include "train/prices.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;
using base::printed;
using nlohmann::json;

// "12 ms (+3.1 %)", with a question mark if it may be noise.
std::string price_words(const std::optional<train::MemoryPrice>& price) {
  if (!price) return "-";
  return concat(format_seconds(price->seconds_per_gib), " (", format_percent(price->share_per_gib),
                ")", price->is_certain ? "  " : " ?");
}

std::string refusal_words(const train::CurvePoint& point) {
  if (point.needed_bytes == 0) return concat("refused (", point.refusal, ")");
  // Where both look alike, what matters is by how much it is short.
  const std::string needed = format_bytes(point.needed_bytes);
  if (needed == format_bytes(point.budget_bytes)) {
    const std::int64_t missing = point.needed_bytes - point.budget_bytes;
    return concat("refused (an op needs ", format_bytes(missing), " more)");
  }
  return concat("refused (an op needs ", needed, ")");
}

// A step's share of what a whole run did.
double a_step(std::int64_t count, const train::PriceCurve& curve) {
  return static_cast<double>(count) / std::max(curve.steps, 1);
}

Table::Row row_of(const train::CurvePoint& point, const std::optional<train::MemoryPrice>& price,
                  const train::PriceCurve& curve) {
  Table::Row row = {{point.budget, format_bytes(point.budget_bytes)}};
  if (point.is_refused()) {
    row.cells.push_back(refusal_words(point));
    return row;
  }
  const train::Spread ratio = train::spread_of(point.ratios);
  for (std::string& cell : std::vector<std::string>{
           format_bytes(point.peak_bytes),
           format_seconds(train::spread_of(point.step_seconds).middle),
           format_overhead(ratio.middle - 1),
           printed("%.3f (%.3f..%.3f)", ratio.middle, ratio.least, ratio.most), price_words(price),
           printed("%.0f", a_step(point.stats.evictions, curve))}) {
    row.cells.push_back(std::move(cell));
  }
  return row;
}

Table::Row plain_row(const train::PriceCurve& curve) {
  return {{"plain", "-", format_bytes(curve.plain_peak_bytes),
           format_seconds(train::spread_of(curve.plain_seconds).middle), "-", "1", "-", "-"}};
}

std::string difference_words(const std::string& who, const train::LossDifference& difference) {
  return concat(who, " differs from step ", difference.step,
                " on: ", printed("%.17g, plain %.17g", difference.got, difference.plain), "\n");
}

bool is_any_kept(const train::PriceCurve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const train::CurvePoint& point) { return !point.is_refused(); });
}

std::string losses_words(const train::PriceCurve& curve) {
  if (!is_any_kept(curve) && !curve.plain_difference) return "";
  if (losses_are_plains(curve)) {
    return concat("Losses are plain's in every step, bit for bit (", curve.steps,
                  curve.steps == 1 ? " step" : " steps", ").\n");
  }
  std::string text;
  if (curve.plain_difference) {
    text += difference_words("Plain training does not repeat itself: its loss",
                             *curve.plain_difference);
  }
  for (const train::CurvePoint& point : curve.points) {
    if (point.difference) {
      text +=
          difference_words(concat("LOSSES DIFFER at ", point.budget, ": it"), *point.difference);
    }
  }
  return text;
}

json difference_json(const train::LossDifference& difference) {
  return {{"step", difference.step}, {"plain", difference.plain}, {"got", difference.got}};
}

json point_json(const train::CurvePoint& point, const std::optional<train::MemoryPrice>& price,
                const train::PriceCurve& curve) {
  json result = {{"budget", point.budget},
                 {"budget_bytes", point.budget_bytes},
                 {"refused", point.is_refused()}};
  if (point.is_refused()) {
    result["refusal"] = point.refusal;
    if (point.needed_bytes > 0) result["needed_bytes"] = point.needed_bytes;
    return result;
  }
  const train::Spread ratio = train::spread_of(point.ratios);
  result.update({{"step_seconds", train::spread_of(point.step_seconds).middle},
                 {"ratio", ratio.middle},
                 {"least_ratio", ratio.least},
                 {"most_ratio", ratio.most},
                 {"ratios", point.ratios},
                 {"overhead", ratio.middle - 1},
                 {"peak_bytes", point.peak_bytes},
                 {"reserved_peak_bytes", point.reserved_peak_bytes},
                 {"evictions_a_step", a_step(point.stats.evictions, curve)},
                 {"recomputes_a_step", a_step(point.stats.recomputes, curve)},
                 {"bytes_to_host_a_step", a_step(point.stats.bytes_to_host, curve)},
                 {"bytes_to_disk_a_step", a_step(point.stats.bytes_to_disk, curve)},
                 {"identical", !point.difference}});
  if (price) {
    result["saved_seconds_per_further_gib"] = price->seconds_per_gib;
    result["saved_share_per_further_gib"] = price->share_per_gib;
    result["is_more_than_the_spread"] = price->is_certain;
  }
  if (point.difference) result["first_difference"] = difference_json(*point.difference);
  return result;
}

}  // namespace

bool losses_are_plains(const train::PriceCurve& curve) {
  return !curve.plain_difference &&
         std::none_of(curve.points.begin(), curve.points.end(),
                      [](const train::CurvePoint& point) { return point.difference.has_value(); });
}

ExitCode price_exit_code(const train::PriceCurve& curve) {
  if (!losses_are_plains(curve)) return ExitCode::kFailed;
  if (curve.was_interrupted) return ExitCode::kInterrupted;
  return is_any_kept(curve) ? ExitCode::kDone : ExitCode::kDoesNotFit;
}

std::string price_text(const train::PriceCurve& curve, const Style& style) {
  Table table({{"budget"},
               {"size", Align::kRight},
               {"peak", Align::kRight},
               {"step time", Align::kRight},
               {"overhead", Align::kRight},
               {"of plain (least..most)", Align::kRight},
               {"a further GiB saves  ", Align::kRight},
               {"evictions", Align::kRight}});
  table.add(plain_row(curve));
  const auto prices = train::memory_prices(curve);
  bool has_doubt = false;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    table.add(row_of(curve.points[i], prices[i], curve));
    has_doubt = has_doubt || (prices[i] && !prices[i]->is_certain);
  }
  const train::TrainingOptions& training = curve.training;
  const std::size_t rounds = curve.plain_seconds.size();
  return concat(bold(training.model, style), ": batch ", training.batch, ", ", training.optimizer,
                training.has_bf16 ? ", bf16" : "", ", ", training.device, ", policy ", curve.policy,
                ", ", rounds, rounds == 1 ? " round" : " rounds", " of ", curve.timed_steps,
                curve.timed_steps == 1 ? " timed step" : " timed steps", "\n\n", table.text(style),
                "\n", has_doubt ? "?: not more than the spread of the measurements\n" : "",
                losses_words(curve));
}

json price_json(const train::PriceCurve& curve) {
  const auto prices = train::memory_prices(curve);
  json points = json::array();
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    points.push_back(point_json(curve.points[i], prices[i], curve));
  }
  json result = {{"model", curve.training.model},
                 {"data", curve.training.data},
                 {"device", curve.training.device},
                 {"batch", curve.training.batch},
                 {"optimizer", curve.training.optimizer},
                 {"amp", curve.training.has_bf16 ? "bf16" : "off"},
                 {"seed", curve.training.seed},
                 {"policy", curve.policy},
                 {"tiers", curve.tiers},
                 {"rounds", curve.plain_seconds.size()},
                 {"timed_steps", curve.timed_steps},
                 {"steps", curve.steps},
                 {"interrupted", curve.was_interrupted},
                 {"plain_peak_bytes", curve.plain_peak_bytes},
                 {"plain_step_seconds", train::spread_of(curve.plain_seconds).middle},
                 {"plain_step_seconds_by_round", curve.plain_seconds},
                 {"plain_repeats", !curve.plain_difference},
                 {"identical", losses_are_plains(curve)},
                 {"budgets", std::move(points)}};
  return result;
}

}  // namespace lowtide::cli
