// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/step_data.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

constexpr double kMicroseconds = 1e6;
constexpr std::size_t kMostGroups = 60;
constexpr std::size_t kMostItems = 60;
// Shorter ones are rounding errors of the clocks.
constexpr double kShortestGap = 1e-9;

// Two decimals are more than a screen shows.
double micros(double seconds) { return std::round(seconds * kMicroseconds * 100) / 100; }

// In which bytes are counted over time: fewer digits where nobody would see them.
std::int64_t unit_for(std::int64_t peak_bytes) { return peak_bytes < 8 * base::kMiB ? 1 : 1024; }

// How many neighbours become one so that no more than `most` are left.
std::size_t group_size(std::size_t count, std::size_t most) {
  return std::max<std::size_t>((count + most - 1) / std::max<std::size_t>(most, 1), 1);
}

// Bars of one lane: [start, end, name or op, kind or bytes, how many].
json works_json(const std::vector<sim::Work>& works, std::size_t most, Names& names) {
  json bars = json::array();
  const std::size_t group = group_size(works.size(), most);
  for (std::size_t first = 0; first < works.size(); first += group) {
    const std::size_t end = std::min(first + group, works.size());
    const sim::Work* longest = &works[first];
    for (std::size_t i = first; i < end; ++i) {
      const auto seconds = [](const sim::Work& work) {
        return work.end_seconds - work.start_seconds;
      };
      if (seconds(works[i]) > seconds(*longest)) longest = &works[i];
    }
    bars.push_back({micros(works[first].start_seconds), micros(works[end - 1].end_seconds),
                    names.op(longest->op), static_cast<int>(longest->kind), end - first,
                    names.op(longest->tick)});
  }
  return bars;
}

json lane_json(std::vector<const sim::Copy*> copies, std::size_t most, Names& names) {
  std::stable_sort(copies.begin(), copies.end(), [](const auto* a, const auto* b) {
    return a->start_seconds < b->start_seconds;
  });
  json bars = json::array();
  const std::size_t group = group_size(copies.size(), most);
  for (std::size_t first = 0; first < copies.size(); first += group) {
    const std::size_t end = std::min(first + group, copies.size());
    std::int64_t bytes = 0;
    for (std::size_t i = first; i < end; ++i) bytes += copies[i]->bytes;
    bars.push_back({micros(copies[first]->start_seconds), micros(copies[end - 1]->end_seconds),
                    names.value(copies[first]->value), bytes, end - first});
  }
  return bars;
}

json links_json(const SimulatedStep& step, std::size_t most, Names& names) {
  json lanes = json::array();
  for (const LinkUse& link : step.timeline.links) {
    std::vector<const sim::Copy*> copies;
    for (const sim::Copy& copy : step.log.copies) {
      if (copy.tier == link.tier && copy.to_tier == link.to_tier) copies.push_back(&copy);
    }
    if (copies.empty()) continue;
    const std::string& tier = step.problem.machine.tier(link.tier).name;
    lanes.push_back({{"name", (link.to_tier ? "to " : "from ") + tier},
                     {"busy", micros(link.busy_seconds)},
                     {"bytes", link.bytes},
                     {"bars", lane_json(std::move(copies), most, names)}});
  }
  return lanes;
}

json gaps_json(const SimulatedStep& step, std::size_t most, Names& names) {
  std::vector<Gap> gaps = gaps_of(step);
  if (gaps.size() > most) {
    const auto length = [](const Gap& gap) { return gap.end_seconds - gap.start_seconds; };
    std::sort(gaps.begin(), gaps.end(),
              [&](const Gap& a, const Gap& b) { return length(a) > length(b); });
    gaps.resize(most);
    std::sort(gaps.begin(), gaps.end(),
              [](const Gap& a, const Gap& b) { return a.start_seconds < b.start_seconds; });
  }
  json bars = json::array();
  for (const Gap& gap : gaps) {
    bars.push_back({micros(gap.start_seconds), micros(gap.end_seconds), static_cast<int>(gap.cause),
                    names.op(gap.op),
                    gap.value.valid() ? json(names.value(gap.value)) : json(nullptr)});
  }
  return bars;
}

json peak_json(const Trace& trace, const Peak& peak, Names& names) {
  json groups = json::array(), items = json::array();
  for (const Peak::Group& group : peak.groups) {
    if (groups.size() == kMostGroups) break;
    groups.push_back(
        {names.text(group.place), static_cast<int>(group.kind), group.items, group.bytes});
  }
  for (const Peak::Item& item : peak.items) {
    if (items.size() == kMostItems) break;
    const std::string name = item.storage.valid() ? trace.storage(item.storage).name : "workspace";
    items.push_back(
        {names.text(name), names.text(item.place), static_cast<int>(item.kind), item.bytes});
  }
  json kinds = json::array();
  for (std::size_t k = 0; k < kStorageKinds; ++k) {
    kinds.push_back(peak.of(static_cast<StorageKind>(k)));
  }
  return {{"op", names.op(peak.op)},
          {"kinds", std::move(kinds)},
          {"running", names.op(peak.running)},
          {"at", micros(peak.seconds)},
          {"bytes", peak.bytes},
          {"count", peak.items.size()},
          {"groups", std::move(groups)},
          {"items", std::move(items)}};
}

}  // namespace

std::vector<Gap> gaps_of(const SimulatedStep& step) {
  std::unordered_map<OpId, const Stall*> longest;
  for (const Stall& stall : step.timeline.stalls) {
    const Stall*& known = longest[stall.op];
    if (known == nullptr || stall.seconds > known->seconds) known = &stall;
  }
  std::vector<Gap> gaps;
  double end = 0;
  const auto add = [&](double start, OpId op) {
    if (start - end > kShortestGap) {
      Gap gap{.start_seconds = end, .end_seconds = start, .op = op};
      if (const auto found = longest.find(op); found != longest.end()) {
        gap.cause = found->second->cause;
        gap.value = found->second->value;
      }
      gaps.push_back(gap);
    }
  };
  for (const sim::Work& work : step.log.works) {
    add(work.start_seconds, work.tick);
    end = std::max(end, work.end_seconds);
  }
  add(step.timeline.seconds, step.problem.trace->end());
  return gaps;
}

json memory_data(const Timeline& timeline, std::size_t most, Names& names) {
  json starts = json::array(), ops = json::array(), kinds = json::array();
  for (std::size_t k = 0; k < kStorageKinds; ++k) kinds.push_back(json::array());
  const std::int64_t unit = unit_for(timeline.peak_bytes);
  const std::size_t group = group_size(timeline.ticks.size(), most);
  for (std::size_t first = 0; first < timeline.ticks.size(); first += group) {
    const auto begin = timeline.ticks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = timeline.ticks.begin() +
                     static_cast<std::ptrdiff_t>(std::min(first + group, timeline.ticks.size()));
    const TickUse& fullest = *std::max_element(
        begin, end, [](const auto& a, const auto& b) { return a.total_bytes() < b.total_bytes(); });
    starts.push_back(micros(begin->start_seconds));
    ops.push_back(names.op(fullest.op));
    for (std::size_t k = 0; k < kStorageKinds; ++k) {
      kinds[k].push_back((fullest.bytes[k] + unit / 2) / unit);
    }
  }
  return {{"unit", unit},
          {"start", std::move(starts)},
          {"op", std::move(ops)},
          {"kinds", std::move(kinds)}};
}

json step_data(const SimulatedStep& step, const Peak& peak, const PageDetail& detail,
               Names& names) {
  const Timeline& timeline = step.timeline;
  json stalls = json::array();
  for (const double seconds : timeline.stall_seconds) stalls.push_back(micros(seconds));
  return {{"policy", step.plan.policy},
          {"us", micros(timeline.seconds)},
          {"peakBytes", timeline.peak_bytes},
          {"reservedBytes", timeline.reserved_peak_bytes},
          {"computeUs", micros(timeline.compute_seconds)},
          {"recomputeUs", micros(timeline.recompute_seconds)},
          {"replays", timeline.replays},
          {"stalls", std::move(stalls)},
          {"memory", memory_data(timeline, detail.samples, names)},
          {"works", works_json(step.log.works, detail.bars, names)},
          {"links", links_json(step, detail.bars, names)},
          {"gaps", gaps_json(step, detail.bars / 2, names)},
          {"peak", peak_json(*step.problem.trace, peak, names)}};
}

}  // namespace lowtide::report
