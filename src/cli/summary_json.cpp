// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/figures.h"
#include "cli/json_text.h"
#include "cli/summary.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestStalls = 10;

json op_json(const Trace& trace, OpId op) {
  if (!op.valid()) return nullptr;
  if (op == trace.end()) return {{"op", op.index}, {"name", "end of step"}};
  return {{"op", op.index}, {"name", trace.op(op).name}};
}

json stalls_json(const Trace& trace, const Timeline& timeline) {
  json by_cause = json::object();
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    by_cause[std::string(to_string(static_cast<StallCause>(i)))] = timeline.stall_seconds[i];
  }
  json longest = json::array();
  for (const Stall& stall : longest_stalls(timeline, kLongestStalls)) {
    json item = op_json(trace, stall.op);
    if (!item.is_object()) item = json::object();
    item["cause"] = to_string(stall.cause);
    item["seconds"] = stall.seconds;
    if (stall.value.valid()) item["value"] = trace.value_name(stall.value);
    longest.push_back(std::move(item));
  }
  return {{"seconds_by_cause", std::move(by_cause)}, {"longest", std::move(longest)}};
}

json links_json(const Machine& machine, const Timeline& timeline) {
  json links = json::array();
  for (const LinkUse& link : timeline.links) {
    links.push_back({{"tier", machine.tier(link.tier).name},
                     {"direction", link.to_tier ? "to_tier" : "from_tier"},
                     {"bytes", link.bytes},
                     {"busy_seconds", link.busy_seconds}});
  }
  return links;
}

json bounds_json(const Trace& trace, const LowerBounds& bounds) {
  return {{"working_set_bytes", bounds.working_set_bytes},
          {"working_set_op", op_json(trace, bounds.working_set_op)},
          {"compute_seconds", bounds.compute_seconds},
          {"transfer_seconds", bounds.transfer_seconds}};
}

json tier_peaks_json(const Machine& machine, const Timeline& timeline) {
  json peaks = json::object();
  for (std::size_t i = 0; i < timeline.tier_peak_bytes.size() && i < machine.tiers.size(); ++i) {
    peaks[machine.tiers[i].name] = timeline.tier_peak_bytes[i];
  }
  return peaks;
}

}  // namespace

json summary_json(const PlainStep& plain, const PlannedStep& planned) {
  const Timeline& timeline = planned.timeline;
  json actions = json::object();
  for (const ActionCount& action : count_actions(planned.plan)) {
    actions[action.singular] = action.count;
  }
  return {{"trace", plain.trace->name()},
          {"device", plain.machine.name},
          {"policy", planned.plan.policy},
          {"budget_bytes", planned.problem.budget_bytes},
          {"peak_bytes", timeline.peak_bytes},
          {"reserved_peak_bytes", timeline.reserved_peak_bytes},
          {"plain_peak_bytes", plain.memory.plain_peak_bytes},
          {"step_seconds", timeline.seconds},
          {"plain_step_seconds", plain.timeline.seconds},
          {"overhead", overhead(plain.timeline.seconds, timeline.seconds)},
          {"evictions", evictions(planned.plan)},
          {"recomputes", timeline.replays},
          {"recompute_seconds", timeline.recompute_seconds},
          {"bytes_to_host", bytes_to_host(timeline)},
          {"bytes_to_disk", bytes_to_disk(timeline)},
          {"stall_seconds", timeline.total_stall_seconds()},
          {"plan_seconds", planned.plan_seconds},
          {"stopped_early", planned.was_stopped},
          {"actions", std::move(actions)}};
}

json report_json(const PlainStep& plain, const PlannedStep& planned) {
  const Timeline& timeline = planned.timeline;
  json report = summary_json(plain, planned);
  report["peak_op"] = op_json(*plain.trace, timeline.peak_op);
  report["plain_reserved_peak_bytes"] = plain.timeline.reserved_peak_bytes;
  report["compute_seconds"] = timeline.compute_seconds;
  report["codec_seconds"] = timeline.codec_seconds;
  report["fragmentation_failures"] = timeline.fragmentation_failures;
  report["tier_peak_bytes"] = tier_peaks_json(plain.machine, timeline);
  report["stalls"] = stalls_json(*plain.trace, timeline);
  report["links"] = links_json(plain.machine, timeline);
  report["lower_bounds"] = bounds_json(*plain.trace, planned.bounds);
  return report;
}

json refusal_json(const PlainStep& plain, const std::string& policy, std::int64_t budget_bytes,
                  const RefusedStep& refused) {
  return {{"trace", plain.trace->name()},
          {"device", plain.machine.name},
          {"policy", policy},
          {"budget_bytes", budget_bytes},
          {"plain_peak_bytes", plain.memory.plain_peak_bytes},
          {"refused", true},
          {"reason", refused.refusal.reason},
          {"smallest_budget_bytes", refused.refusal.smallest_budget_bytes},
          {"working_set_bytes", plain.memory.working_set_bytes},
          {"working_set_op", op_json(*plain.trace, plain.memory.working_set_op)},
          {"plan_seconds", refused.plan_seconds},
          {"stopped_early", refused.was_stopped}};
}

ExitCode report_refusal(const PlainStep& plain, const Planner& planner, std::int64_t budget_bytes,
                        const RefusedStep& refused, bool as_json, Console& console) {
  const std::string& name = planner.info->name;
  if (as_json) console.out << json_text(refusal_json(plain, name, budget_bytes, refused));
  print_error(console.err, refusal_message(plain, name, budget_bytes, refused));
  return ExitCode::kDoesNotFit;
}

}  // namespace lowtide::cli
