// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/online_memory.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.h"

namespace lowtide::report {
namespace {

using Deed = plan::OnlineDeed;

// From which tick on a storage is there, or is not.
struct Change {
  std::size_t tick = 0;
  bool is_there = true;
};

// By storage, in order of time. What is brought back first was away when the step began.
std::vector<std::vector<Change>> changes_of(const Study& study) {
  std::vector<std::vector<Change>> changes(study.trace().storages().size());
  for (const Deed& deed : *study.record.online) {
    std::vector<Change>& its_own = changes[deed.storage.slot()];
    const bool is_there = deed.kind == Deed::Kind::kFetch || deed.kind == Deed::Kind::kReplay;
    if (its_own.empty() && is_there) its_own.push_back({0, false});
    if (!its_own.empty() && its_own.back().is_there == is_there) continue;
    its_own.push_back({deed.op.slot(), is_there});
  }
  return changes;
}

// After the last of the tick's changes.
bool is_away(const std::vector<Change>& changes, std::size_t tick) {
  const auto after =
      std::upper_bound(changes.begin(), changes.end(), tick,
                       [](std::size_t at, const Change& change) { return at < change.tick; });
  return after != changes.begin() && !std::prev(after)->is_there;
}

}  // namespace

Timeline memory_under_online_rule(const Study& study) {
  LT_CHECK(study.record.online, "the record does not say what the online rule did");
  Timeline kept = study.plain.timeline;
  const std::vector<std::vector<Change>> changes = changes_of(study);
  for (const sim::Stay& stay : study.plain.log.stays) {
    if (!stay.storage.valid()) continue;
    const std::size_t last = std::min(stay.to.slot() + 1, kept.ticks.size());
    for (std::size_t tick = stay.from.slot(); tick < last; ++tick) {
      if (!is_away(changes[stay.storage.slot()], tick)) continue;
      std::int64_t& bytes = kept.ticks[tick].bytes[static_cast<std::size_t>(stay.kind)];
      bytes = std::max<std::int64_t>(bytes - stay.bytes, 0);
    }
  }
  kept.peak_bytes = 0;
  for (const TickUse& tick : kept.ticks) {
    if (tick.total_bytes() <= kept.peak_bytes) continue;
    kept.peak_bytes = tick.total_bytes();
    kept.peak_op = tick.op;
  }
  return kept;
}

}  // namespace lowtide::report
