// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/trace_facts.h"

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cost/op_cost.h"
#include "lowtide/plan.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;
using nlohmann::json;

std::string in_op(const Trace& trace, OpId op) {
  return op.valid() ? concat(" in ", op_words(trace, op)) : "";
}

// "120 forward, 130 backward"
std::string phases_text(const trace::Summary& summary) {
  std::string text;
  for (std::size_t i = 0; i < trace::kPhases; ++i) {
    if (summary.ops_by_phase[i] == 0) continue;
    text += concat(text.empty() ? "" : ", ", summary.ops_by_phase[i], " ",
                   to_string(static_cast<Phase>(i)));
  }
  return text;
}

std::string ops_text(const trace::Summary& summary) {
  std::string text = concat(summary.ops);
  if (summary.ops > 0) text += concat(": ", phases_text(summary));
  if (summary.in_place_ops > 0) text += concat("; ", summary.in_place_ops, " in place");
  if (summary.once_ops > 0) text += concat("; ", summary.once_ops, " not to be replayed");
  return text;
}

}  // namespace

TraceFacts trace_facts(const Trace& trace, const Machine& machine) {
  return TraceFacts{.summary = trace::summary(trace),
                    .memory = plan::memory_bounds(trace, machine),
                    .digest = digest(trace),
                    .machine = machine.name,
                    .compute_seconds = cost::CostTable(trace, machine).total_seconds};
}

std::string facts_text(const Trace& trace, const TraceFacts& facts, const Style& style) {
  const trace::Summary& summary = facts.summary;
  FactList list(style);
  list.add("trace", concat(trace.name(), ", digest ", facts.digest));
  list.add("ops", ops_text(summary));
  list.add("storages", concat(summary.storages, " with ", summary.values, " values",
                              summary.layers > 0 ? concat(" in ", summary.layers, " layers") : ""));
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    if (summary.storages_by_kind[i] == 0) continue;
    list.add_below(concat(to_string(static_cast<StorageKind>(i)), ": ", summary.storages_by_kind[i],
                          ", ", format_bytes(summary.bytes_by_kind[i])));
  }
  list.add("plain peak", concat(format_bytes(facts.memory.plain_peak_bytes),
                                in_op(trace, facts.memory.plain_peak_op)));
  list.add("working set",
           concat(format_bytes(facts.memory.working_set_bytes),
                  in_op(trace, facts.memory.working_set_op), ": no plan takes less"));
  std::string time = concat(format_seconds(facts.compute_seconds), " on the device");
  if (summary.unmeasured_ops > 0) {
    time += concat("; ", summary.unmeasured_ops, " ops as estimated for ", facts.machine);
  }
  list.add("time", time);
  return list.text();
}

json facts_json(const Trace& trace, const TraceFacts& facts) {
  json storages = json::object();
  json bytes = json::object();
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    const std::string kind(to_string(static_cast<StorageKind>(i)));
    storages[kind] = facts.summary.storages_by_kind[i];
    bytes[kind] = facts.summary.bytes_by_kind[i];
  }
  json phases = json::object();
  for (std::size_t i = 0; i < trace::kPhases; ++i) {
    phases[std::string(to_string(static_cast<Phase>(i)))] = facts.summary.ops_by_phase[i];
  }
  return {{"trace", trace.name()},
          {"trace_digest", facts.digest},
          {"device", facts.machine},
          {"ops", facts.summary.ops},
          {"ops_by_phase", std::move(phases)},
          {"unmeasured_ops", facts.summary.unmeasured_ops},
          {"storages", facts.summary.storages},
          {"storages_by_kind", std::move(storages)},
          {"bytes_by_kind", std::move(bytes)},
          {"values", facts.summary.values},
          {"layers", facts.summary.layers},
          {"plain_peak_bytes", facts.memory.plain_peak_bytes},
          {"plain_peak_op", facts.memory.plain_peak_op.index},
          {"working_set_bytes", facts.memory.working_set_bytes},
          {"working_set_op", facts.memory.working_set_op.index},
          {"compute_seconds", facts.compute_seconds}};
}

}  // namespace lowtide::cli
