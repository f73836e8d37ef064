// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/peak.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/places.h"

namespace lowtide::report {
namespace {

// Which share of the peak the groups that a reader sees are to explain.
constexpr double kEnough = 0.75;

bool covers(const sim::Stay& stay, double seconds) {
  return stay.start_seconds <= seconds && seconds < stay.end_seconds;
}

std::int64_t bytes_at(const sim::StepLog& log, double seconds) {
  std::int64_t bytes = 0;
  for (const sim::Stay& stay : log.stays) bytes += covers(stay, seconds) ? stay.bytes : 0;
  return bytes;
}

// Looks where the works of the peak's tick begin: whatever they need has been allocated by then,
// and nothing but copies ends meanwhile. At the end of the step there is only the tick's beginning.
void find_moment(const SimulatedStep& step, Peak& peak) {
  const auto consider = [&](double seconds, OpId running) {
    const std::int64_t bytes = bytes_at(step.log, seconds);
    if (bytes <= peak.bytes) return;
    peak.bytes = bytes;
    peak.seconds = seconds;
    peak.running = running;
  };
  for (const sim::Work& work : step.log.works) {
    if (work.tick == step.timeline.peak_op) consider(work.start_seconds, work.op);
  }
  for (const TickUse& tick : step.timeline.ticks) {
    if (tick.op == step.timeline.peak_op) consider(tick.start_seconds, tick.op);
  }
}

void list_items(const SimulatedStep& step, Peak& peak) {
  const Trace& trace = *step.problem.trace;
  for (const sim::Stay& stay : step.log.stays) {
    if (!covers(stay, peak.seconds) || stay.bytes == 0) continue;
    const std::string place =
        stay.storage.valid() ? place_of(trace, stay.storage) : place_of(trace.op(stay.from));
    peak.items.push_back(
        {.storage = stay.storage, .kind = stay.kind, .place = place, .bytes = stay.bytes});
  }
  std::stable_sort(peak.items.begin(), peak.items.end(),
                   [](const Peak::Item& a, const Peak::Item& b) { return a.bytes > b.bytes; });
}

// The first parts of a name such as "layer1.0.conv2".
std::string first_parts(const std::string& place, std::size_t parts) {
  std::size_t end = place.find('.');
  for (; parts > 1 && end != std::string::npos; --parts) end = place.find('.', end + 1);
  return place.substr(0, end);
}

std::size_t most_parts(const Peak& peak) {
  std::ptrdiff_t dots = 0;
  for (const Peak::Item& item : peak.items) {
    dots = std::max(dots, std::count(item.place.begin(), item.place.end(), '.'));
  }
  return static_cast<std::size_t>(dots) + 1;
}

std::vector<Peak::Group> groups_of(const Peak& peak, std::size_t parts) {
  std::map<std::pair<std::string, StorageKind>, Peak::Group> found;
  for (const Peak::Item& item : peak.items) {
    const std::string place = first_parts(item.place, parts);
    Peak::Group& group = found[{place, item.kind}];
    group.place = place;
    group.kind = item.kind;
    ++group.items;
    group.bytes += item.bytes;
  }
  std::vector<Peak::Group> groups;
  for (auto& [key, group] : found) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Peak::Group& a, const Peak::Group& b) { return a.bytes > b.bytes; });
  return groups;
}

bool says_enough(const std::vector<Peak::Group>& groups, std::int64_t peak_bytes) {
  const std::size_t shown = std::min(groups.size(), Peak::kTellingGroups);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < shown; ++i) bytes += groups[i].bytes;
  return static_cast<double>(bytes) >= kEnough * static_cast<double>(peak_bytes);
}

// By layer if a few of them are most of the peak, else by block.
void group_items(Peak& peak) {
  std::size_t parts = most_parts(peak);
  peak.groups = groups_of(peak, parts);
  while (parts > 1 && !says_enough(peak.groups, peak.bytes)) {
    peak.groups = groups_of(peak, --parts);
  }
}

}  // namespace

std::int64_t Peak::of(StorageKind kind) const {
  std::int64_t bytes_of_kind = 0;
  for (const Item& item : items) bytes_of_kind += item.kind == kind ? item.bytes : 0;
  return bytes_of_kind;
}

Peak explain_peak(const SimulatedStep& step) {
  Peak peak;
  peak.op = peak.running = step.timeline.peak_op;
  find_moment(step, peak);
  if (peak.bytes == 0) return peak;
  list_items(step, peak);
  group_items(peak);
  return peak;
}

}  // namespace lowtide::report
