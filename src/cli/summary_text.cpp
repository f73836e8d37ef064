// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/figures.h"
#include "cli/summary.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

constexpr std::size_t kLongestStalls = 5;

std::string op_name(const Trace& trace, OpId op) {
  return op.valid() ? op_words(trace, op) : "the start of the step";
}

std::string cause_text(StallCause cause) {
  switch (cause) {
    case StallCause::kFetch:
      return "for values on their way in";
    case StallCause::kRoom:
      return "for bytes of values on their way out";
    case StallCause::kHost:
      return "for the host to issue ops";
    case StallCause::kDrain:
      return "for copies after the last op";
    case StallCause::kCopy:
      return "to copy values by itself";
  }
  return "";
}

void add_memory(const PlainStep& plain, const PlannedStep& planned, FactList& facts) {
  const Timeline& timeline = planned.timeline;
  std::string peak = concat(format_bytes(timeline.peak_bytes), " allocated in ",
                            op_name(*plain.trace, timeline.peak_op), ", ",
                            format_bytes(timeline.reserved_peak_bytes), " reserved");
  facts.add("peak", peak);
  const auto share = static_cast<double>(timeline.peak_bytes) /
                     static_cast<double>(std::max<std::int64_t>(1, plain.memory.plain_peak_bytes));
  if (!planned.plan.actions.empty()) {
    facts.add_below(concat(format_percent(share), " of the plain step's ",
                           format_bytes(plain.memory.plain_peak_bytes), "; budget ",
                           format_bytes(planned.problem.budget_bytes)));
  }
  if (timeline.fragmentation_failures > 0) {
    facts.add_below(concat(timeline.fragmentation_failures,
                           " requests would not fit the budget for fragmentation"));
  }
  for (std::size_t i = 0; i < timeline.tier_peak_bytes.size(); ++i) {
    if (timeline.tier_peak_bytes[i] == 0) continue;
    facts.add_below(
        concat(format_bytes(timeline.tier_peak_bytes[i]), " in ", plain.machine.tiers[i].name));
  }
}

void add_time(const PlainStep& plain, const PlannedStep& planned, FactList& facts) {
  const Timeline& timeline = planned.timeline;
  std::string time = format_seconds(timeline.seconds);
  if (!planned.plan.actions.empty()) {
    const double added = overhead(plain.timeline.seconds, timeline.seconds);
    time += concat(", ", format_overhead(added), " against the plain step's ",
                   format_seconds(plain.timeline.seconds));
  }
  facts.add("time", time);
  if (timeline.replays > 0) {
    facts.add("recompute", concat(format_seconds(timeline.recompute_seconds), " in ",
                                  timeline.replays, " replays"));
  }
  if (timeline.codec_seconds > 0) facts.add("codecs", format_seconds(timeline.codec_seconds));
}

void add_stalls(const Trace& trace, const Timeline& timeline, FactList& facts) {
  const double total = timeline.total_stall_seconds();
  const double share = timeline.seconds > 0 ? total / timeline.seconds : 0;
  facts.add("stalls", concat(format_seconds(total), ", ", format_percent(share), " of the step"));
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    if (timeline.stall_seconds[i] <= 0) continue;
    facts.add_below(concat(format_seconds(timeline.stall_seconds[i]), " ",
                           cause_text(static_cast<StallCause>(i))));
  }
  for (const Stall& stall : longest_stalls(timeline, kLongestStalls)) {
    if (stall.seconds <= 0) break;
    const std::string value = stall.value.valid() ? ", " + trace.value_name(stall.value) : "";
    facts.add_below(concat("  ", format_seconds(stall.seconds), " ", to_string(stall.cause), " at ",
                           op_name(trace, stall.op), value));
  }
}

void add_links(const Machine& machine, const Timeline& timeline, FactList& facts) {
  for (const LinkUse& link : timeline.links) {
    if (link.bytes == 0) continue;
    const double share = timeline.seconds > 0 ? link.busy_seconds / timeline.seconds : 0;
    facts.add(concat(link.to_tier ? "to " : "from ", machine.tier(link.tier).name),
              concat(format_bytes(link.bytes), ", busy ", format_percent(share), " of the step"));
  }
}

void add_bounds(const PlainStep& plain, const LowerBounds& bounds, FactList& facts) {
  facts.add("at least", concat(format_bytes(bounds.working_set_bytes), " for ",
                               op_name(*plain.trace, bounds.working_set_op), " alone"));
  std::string time = concat(format_seconds(bounds.compute_seconds), " to compute");
  if (bounds.transfer_seconds > 0) {
    time += concat(", ", format_seconds(bounds.transfer_seconds), " on the busiest link");
  }
  facts.add_below(time);
}

}  // namespace

std::string report_text(const PlainStep& plain, const PlannedStep& planned, const Style& style) {
  FactList facts(style);
  const bool is_plain = planned.plan.actions.empty();
  facts.add("step", concat(plain.trace->name(), ", ", plain.trace->ops().size(), " ops on ",
                           plain.machine.name));
  facts.add("plan", is_plain ? "none: nothing is evicted" : planned.plan.policy);
  add_memory(plain, planned, facts);
  add_time(plain, planned, facts);
  add_stalls(*plain.trace, planned.timeline, facts);
  add_links(plain.machine, planned.timeline, facts);
  add_bounds(plain, planned.bounds, facts);
  return facts.text();
}

std::string summary_text(const PlainStep& plain, const PlannedStep& planned) {
  const Timeline& timeline = planned.timeline;
  const double added = overhead(plain.timeline.seconds, timeline.seconds);
  std::string actions;
  for (const ActionCount& action : count_actions(planned.plan)) {
    if (action.count == 0) continue;
    actions += concat(actions.empty() ? "" : ", ", action.count, " ",
                      action.count == 1 ? action.singular : action.plural);
  }
  return concat(planned.plan.policy, ": peak ", format_bytes(timeline.peak_bytes), " of ",
                format_bytes(planned.problem.budget_bytes), " (plain ",
                format_bytes(plain.memory.plain_peak_bytes), "), predicted ",
                format_seconds(timeline.seconds), " (", format_overhead(added), ")",
                planned.was_stopped ? "; its search was stopped early" : "", "\n",
                planned.plan.policy, ": ", actions.empty() ? "no actions needed" : actions, "\n");
}

}  // namespace lowtide::cli
