// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/figures.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <variant>

namespace lowtide::cli {
namespace {

struct ActionNames {
  const char* singular;
  const char* plural;
};
// In the order of the alternatives of Action.
constexpr std::array<ActionNames, std::variant_size_v<Action>> kActionNames{{
    {"drop", "drops"},
    {"hold", "holds"},
    {"run", "runs"},
    {"move", "moves"},
    {"fetch", "fetches"},
    {"encode", "encodes"},
    {"decode", "decodes"},
    {"choose", "chooses"},
    {"place", "places"},
    {"order", "orders"},
}};

}  // namespace

double overhead(double plain_seconds, double seconds) {
  return plain_seconds > 0 ? seconds / plain_seconds - 1 : 0;
}

std::string format_percent(double share) {
  std::array<char, 64> text{};
  const double percent = share * 100;
  std::snprintf(text.data(), text.size(), "%.*f %%", percent < 99.95 && percent > -99.95 ? 1 : 0,
                percent);
  return text.data();
}

std::string format_overhead(double share) {
  // Rounding can leave -0.0, which nobody wants to read.
  const std::string text = format_percent(share);
  if (text == "-0.0 %" || text == "0.0 %") return "0.0 %";
  return share > 0 ? "+" + text : text;
}

std::int64_t bytes_to_host(const Timeline& timeline) {
  std::int64_t bytes = 0;
  for (const LinkUse& link : timeline.links) {
    if (link.to_tier && link.tier.index == 0) bytes += link.bytes;
  }
  return bytes;
}

std::int64_t bytes_to_disk(const Timeline& timeline) {
  std::int64_t bytes = 0;
  for (const LinkUse& link : timeline.links) {
    if (link.to_tier && link.tier.index > 0) bytes += link.bytes;
  }
  return bytes;
}

std::int64_t bytes_moved(const Timeline& timeline) {
  std::int64_t bytes = 0;
  for (const LinkUse& link : timeline.links) bytes += link.bytes;
  return bytes;
}

std::string op_words(const Trace& trace, OpId op) {
  const bool has_layer = op != trace.end() && !trace.op(op).layer.empty();
  return trace.op_name(op) + (has_layer ? " of " + trace.op(op).layer : "");
}

std::vector<ActionCount> count_actions(const Plan& plan) {
  std::vector<ActionCount> counts;
  counts.reserve(kActionNames.size());
  for (const ActionNames& names : kActionNames) counts.push_back({names.singular, names.plural, 0});
  for (const Action& action : plan.actions) ++counts[action.index()].count;
  return counts;
}

std::int64_t evictions(const Plan& plan) {
  std::int64_t count = 0;
  for (const Action& action : plan.actions) {
    count += std::holds_alternative<Drop>(action) || std::holds_alternative<Move>(action) ||
                     std::holds_alternative<Encode>(action)
                 ? 1
                 : 0;
  }
  return count;
}

std::vector<Stall> longest_stalls(const Timeline& timeline, std::size_t limit) {
  std::vector<Stall> stalls = timeline.stalls;
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const Stall& a, const Stall& b) { return a.seconds > b.seconds; });
  if (stalls.size() > limit) stalls.resize(limit);
  return stalls;
}

}  // namespace lowtide::cli
