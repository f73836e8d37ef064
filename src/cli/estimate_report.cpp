// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/estimate_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cli/step.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using nlohmann::json;

// How many tensors are named.
constexpr std::size_t kLargest = 5;
// A plan that a user waits for.
constexpr double kThinkSeconds = 10;

constexpr std::int64_t kEndless = std::int64_t{1} << 50;

std::string name_of(Fit fit) {
  switch (fit) {
    case Fit::kNotAsked:
      return "not asked";
    case Fit::kFits:
      return "fits";
    case Fit::kFitsWithoutMargin:
      return "fits only without the margin";
    case Fit::kFitsWithLowtide:
      return "fits under Lowtide";
    case Fit::kDoesNot:
      return "does not fit";
  }
  return "";
}

std::string fit_text(const StepEstimate& step) {
  if (step.fit == Fit::kFitsWithLowtide) {
    return concat(name_of(step.fit), " at about ", format_overhead(step.overhead));
  }
  if (step.fit == Fit::kDoesNot) {
    return concat(name_of(step.fit), "; needs ", format_bytes(step.smallest_budget_bytes));
  }
  return name_of(step.fit);
}

void decide_fit(StepEstimate& step, const EstimatePlace& place) {
  if (place.budget_bytes == 0) return;
  if (step.taken_bytes(place) <= place.budget_bytes) {
    step.fit = step.fits_with_margin(place) ? Fit::kFits : Fit::kFitsWithoutMargin;
    return;
  }
  const PlainStep plain(step.trace, place.machine());
  Planner planner = make_planner(kDefaultPolicy, {});
  planner.think_seconds = kThinkSeconds;
  const auto outcome = plan_step(plain, planner, place.budget_bytes);
  if (const auto* refused = std::get_if<RefusedStep>(&outcome)) {
    step.fit = Fit::kDoesNot;
    step.smallest_budget_bytes = refused->refusal.smallest_budget_bytes;
    return;
  }
  step.fit = Fit::kFitsWithLowtide;
  step.overhead =
      cli::overhead(plain.timeline.seconds, std::get<PlannedStep>(outcome).timeline.seconds);
}

std::string batch_text(const StepEstimate& step) {
  return step.batch == 0 ? "as traced" : std::to_string(step.batch);
}

void add_kinds(FactList& list, const StepEstimate& step) {
  const auto bytes = estimate::bytes_by_kind_at(*step.trace, step.peaks.steady);
  bool is_first = true;
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    if (bytes[i] == 0) continue;
    const std::string text =
        concat(format_bytes(bytes[i]), " ", to_string(static_cast<StorageKind>(i)));
    if (is_first) {
      list.add("at the peak", text);
    } else {
      list.add_below(text);
    }
    is_first = false;
  }
}

std::string storage_words(const Trace& trace, StorageId id) {
  const Storage& storage = trace.storage(id);
  const auto versions = trace.versions(id);
  const OpId maker = versions.empty() ? OpId() : trace.value(versions.front()).producer;
  return concat(storage.name, ", ", to_string(storage.kind),
                maker.valid() ? concat(", of ", op_words(trace, maker)) : "");
}

void add_largest(FactList& list, const StepEstimate& step) {
  const Trace& trace = *step.trace;
  const estimate::StepPeak& peak = step.peaks.steady;
  bool is_first = true;
  for (const estimate::Held& held : estimate::largest_at(trace, peak, kLargest)) {
    const std::string text =
        concat(format_bytes(held.bytes), " ",
               held.storage.valid() ? storage_words(trace, held.storage)
                                    : concat("workspace of ", op_words(trace, peak.op)));
    if (is_first) {
      list.add("largest", text);
    } else {
      list.add_below(text);
    }
    is_first = false;
  }
}

}  // namespace

Machine EstimatePlace::machine() const {
  if (gpu) return gpu->machine;
  Machine cpu = machine_named("h200");
  cpu.name = "cpu";
  // One pool without end: blocks are as large as they were asked for.
  cpu.allocator = {.round_bytes = 1, .small_bytes = kEndless, .small_segment_bytes = kEndless};
  return cpu;
}

std::int64_t StepEstimate::taken_bytes(const EstimatePlace& place) const {
  if (place.gpu) return reserved_bytes();
  return std::max(peaks.first.allocated_bytes, peaks.steady.allocated_bytes);
}

bool StepEstimate::fits_with_margin(const EstimatePlace& place) const {
  return static_cast<double>(taken_bytes(place)) * (1 + place.margin()) <=
         static_cast<double>(place.budget_bytes);
}

StepEstimate estimate_step(std::shared_ptr<const Trace> trace, const EstimatePlace& place,
                           const estimate::WalkOptions& walk) {
  LT_REQUIRE(!trace->ops().empty(), "the step has no ops, so there is nothing to estimate");
  StepEstimate step;
  if (place.gpu) {
    trace = std::make_shared<const Trace>(estimate::with_library_workspaces(*trace, *place.gpu));
  }
  step.trace = std::move(trace);
  step.peaks = estimate::walk_training(*step.trace, place.machine().allocator, walk);
  decide_fit(step, place);
  return step;
}

std::string estimates_table(const std::vector<StepEstimate>& steps, const EstimatePlace& place,
                            const Style& style) {
  std::vector<Table::Column> columns = {{"batch", Align::kRight},
                                        {"optimizer"},
                                        {"amp"},
                                        {"allocated, step 1", Align::kRight},
                                        {"allocated", Align::kRight}};
  if (place.gpu) {
    columns.push_back({"reserved, step 1", Align::kRight});
    columns.push_back({"reserved", Align::kRight});
    columns.push_back({"process", Align::kRight});
  }
  if (place.budget_bytes > 0) columns.push_back({concat("in ", format_bytes(place.budget_bytes))});
  Table table(columns);
  for (const StepEstimate& step : steps) {
    Table::Row row;
    row.cells = {batch_text(step), step.optimizer, step.amp,
                 format_bytes(step.peaks.first.allocated_bytes),
                 format_bytes(step.peaks.steady.allocated_bytes)};
    if (place.gpu) {
      row.cells.push_back(format_bytes(step.peaks.first.reserved_bytes));
      row.cells.push_back(format_bytes(step.reserved_bytes()));
      row.cells.push_back(format_bytes(step.process_bytes()));
    }
    if (place.budget_bytes > 0) row.cells.push_back(fit_text(step));
    table.add(row);
  }
  return table.text(style);
}

std::string estimate_details(const StepEstimate& step, const EstimatePlace& place,
                             const Style& style) {
  FactList list(style);
  list.add("peak in", op_words(*step.trace, step.peaks.steady.op));
  add_kinds(list, step);
  add_largest(list, step);
  if (place.gpu) {
    list.add("process",
             concat("reserved and ", format_bytes(estimate::kContextBytes),
                    " for the CUDA context and library handles, which is assumed, not measured"));
  }
  list.add("margin", concat("leave ", format_percent(place.margin()),
                            " of what is estimated free beside it; a row that 'fits' does"));
  return list.text();
}

json estimate_json(const StepEstimate& step, const EstimatePlace& place) {
  const Trace& trace = *step.trace;
  const estimate::StepPeak& peak = step.peaks.steady;
  json kinds = json::object();
  const auto bytes = estimate::bytes_by_kind_at(trace, peak);
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    kinds[std::string(to_string(static_cast<StorageKind>(i)))] = bytes[i];
  }
  json largest = json::array();
  for (const estimate::Held& held : estimate::largest_at(trace, peak, kLargest)) {
    if (!held.storage.valid()) {
      largest.push_back({{"storage", "workspace"},
                         {"bytes", held.bytes},
                         {"kind", to_string(StorageKind::kWorkspace)},
                         {"layer", trace.op(peak.op).layer}});
      continue;
    }
    const Storage& storage = trace.storage(held.storage);
    largest.push_back({{"storage", storage.name},
                       {"bytes", storage.bytes},
                       {"kind", to_string(storage.kind)},
                       {"layer", storage.layer}});
  }
  json document = {{"batch", step.batch},
                   {"optimizer", step.optimizer},
                   {"amp", step.amp},
                   {"ops", trace.ops().size()},
                   {"first_step_peak_bytes", step.peaks.first.allocated_bytes},
                   {"peak_bytes", peak.allocated_bytes},
                   {"peak_op", trace.op_name(peak.op)},
                   {"peak_layer", trace.op(peak.op).layer},
                   {"bytes_by_kind_at_peak", std::move(kinds)},
                   {"largest_at_peak", std::move(largest)},
                   {"margin", place.margin()}};
  if (place.gpu) {
    document["first_step_reserved_peak_bytes"] = step.peaks.first.reserved_bytes;
    document["reserved_peak_bytes"] = step.reserved_bytes();
    document["process_peak_bytes"] = step.process_bytes();
    document["context_bytes"] = estimate::kContextBytes;
  }
  if (place.budget_bytes > 0) {
    document["budget_bytes"] = place.budget_bytes;
    document["fit"] = name_of(step.fit);
    document["fits_with_margin"] = step.fit == Fit::kFits;
    if (step.fit == Fit::kFitsWithLowtide) document["overhead"] = step.overhead;
    if (step.fit == Fit::kDoesNot) {
      document["smallest_budget_bytes"] = step.smallest_budget_bytes;
    }
  }
  return document;
}

}  // namespace lowtide::cli
