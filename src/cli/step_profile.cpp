// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/step_profile.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/figures.h"
#include "cli/table.h"
#include "cost/op_cost.h"
#include "plan/bounds.h"
#include "trace/layers.h"
#include "trace/lifetimes.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 12;
constexpr const char* kBefore = "(before the step)";

std::string place_of(const Trace& trace, StorageId storage) {
  if (const std::string& layer = trace.storage(storage).layer; !layer.empty()) return layer;
  const Value& first = trace.value(trace.versions(storage).front());
  if (first.is_source()) return kBefore;
  const Op& op = trace.op(first.producer);
  return op.layer.empty() ? op.name : op.layer;
}

bool exists_at(const Trace& trace, StorageId storage, trace::Tick tick) {
  const auto versions = trace.versions(storage);
  return std::any_of(versions.begin(), versions.end(),
                     [&](ValueId value) { return trace.lifetimes()->of(value).exists_at(tick); });
}

// "and 7 more" with what they come to, for what the table has no row for.
template <class Item, class Amount>
void add_rest(Table& table, const std::vector<Item>& items, std::vector<std::string> cells,
              const Amount& amount) {
  if (items.size() <= kMostRows) return;
  cells.front() = base::concat("and ", items.size() - kMostRows, " more");
  amount(items.begin() + kMostRows, items.end(), cells);
  table.add({std::move(cells)});
}

std::int64_t bytes_of(const std::vector<Holder>& holders) {
  std::int64_t all = 0;
  for (const Holder& holder : holders) all += holder.bytes;
  return all;
}

std::string share_of(std::int64_t bytes, std::int64_t all) {
  return format_percent(all == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(all));
}

// The largest first.
std::vector<Holder> by_kind(const std::vector<Holder>& holders) {
  std::vector<Holder> kinds;
  for (const Holder& holder : holders) {
    auto found = std::find_if(kinds.begin(), kinds.end(),
                              [&](const Holder& other) { return other.kind == holder.kind; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), Holder{"", holder.kind});
    found->storages += holder.storages;
    found->bytes += holder.bytes;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return kinds;
}

std::string kinds_table(const std::vector<Holder>& holders, const Style& style) {
  const std::int64_t all = bytes_of(holders);
  Table table({{"kind"},
               {"storages", Align::kRight},
               {"at the peak", Align::kRight},
               {"share", Align::kRight}});
  for (const Holder& kind : by_kind(holders)) {
    table.add({{std::string(to_string(kind.kind)), std::to_string(kind.storages),
                base::format_bytes(kind.bytes), share_of(kind.bytes, all)}});
  }
  return table.text(style);
}

std::string holders_table(const Trace& trace, const std::vector<Holder>& holders,
                          const Style& style) {
  const std::int64_t all = bytes_of(holders);
  const auto share = [all](std::int64_t bytes) { return share_of(bytes, all); };
  Table table({{trace::layers(trace).empty() ? "made by" : "layer"},
               {"kind"},
               {"storages", Align::kRight},
               {"at the peak", Align::kRight},
               {"share", Align::kRight}});
  for (std::size_t i = 0; i < std::min(holders.size(), kMostRows); ++i) {
    const Holder& holder = holders[i];
    table.add({{holder.place, std::string(to_string(holder.kind)), std::to_string(holder.storages),
                base::format_bytes(holder.bytes), share(holder.bytes)}});
  }
  add_rest(table, holders, {"", "", "", "", ""}, [&](auto first, auto last, auto& cells) {
    std::int64_t bytes = 0;
    for (auto holder = first; holder != last; ++holder) bytes += holder->bytes;
    cells[3] = base::format_bytes(bytes);
    cells[4] = share(bytes);
  });
  return table.text(style);
}

std::string times_table(const Trace& trace, const Machine& machine, const Style& style) {
  const std::vector<OpTime> times = times_by_op(trace, machine);
  Table table({{"op"},
               {"calls", Align::kRight},
               {"on the device", Align::kRight},
               {"on the host", Align::kRight}});
  for (std::size_t i = 0; i < std::min(times.size(), kMostRows); ++i) {
    const OpTime& time = times[i];
    table.add({{time.op, std::to_string(time.calls), base::format_seconds(time.device_seconds),
                base::format_seconds(time.host_seconds)}});
  }
  add_rest(table, times, {"", "", "", ""}, [](auto first, auto last, auto& cells) {
    OpTime rest;
    for (auto time = first; time != last; ++time) {
      rest.calls += time->calls;
      rest.device_seconds += time->device_seconds;
      rest.host_seconds += time->host_seconds;
    }
    cells[1] = std::to_string(rest.calls);
    cells[2] = base::format_seconds(rest.device_seconds);
    cells[3] = base::format_seconds(rest.host_seconds);
  });
  return table.text(style);
}

}  // namespace

std::vector<Holder> holders_at_peak(const Trace& trace, const Machine& machine) {
  const OpId peak = plan::memory_bounds(trace, machine).plain_peak_op;
  if (!peak.valid()) return {};
  const trace::Tick tick = trace.lifetimes()->tick_of(peak);
  std::map<std::pair<std::string, StorageKind>, Holder> groups;
  const auto add = [&](const std::string& place, StorageKind kind, std::int64_t bytes) {
    Holder& holder = groups.try_emplace({place, kind}, Holder{place, kind}).first->second;
    ++holder.storages;
    holder.bytes += bytes;
  };
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const auto id = make_id<StorageId>(i);
    if (!exists_at(trace, id, tick)) continue;
    const Storage& storage = trace.storage(id);
    add(place_of(trace, id), storage.kind, cost::device_bytes(storage, machine));
  }
  const Op& op = trace.op(peak);
  if (op.workspace_bytes > 0) {
    add(op.layer.empty() ? op.name : op.layer, StorageKind::kWorkspace,
        cost::device_bytes(op.workspace_bytes, machine));
  }
  std::vector<Holder> holders;
  for (auto& [key, holder] : groups) holders.push_back(std::move(holder));
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return holders;
}

std::vector<OpTime> times_by_op(const Trace& trace, const Machine& machine) {
  std::map<std::string, OpTime> by_name;
  for (const Op& op : trace.ops()) {
    OpTime& time = by_name[op.name];
    time.op = op.name;
    ++time.calls;
    time.device_seconds += cost::op_seconds(trace, op, machine);
    time.host_seconds += cost::issue_seconds(op, machine);
  }
  std::vector<OpTime> times;
  for (auto& [name, time] : by_name) times.push_back(std::move(time));
  std::stable_sort(times.begin(), times.end(), [](const OpTime& a, const OpTime& b) {
    return std::max(a.device_seconds, a.host_seconds) > std::max(b.device_seconds, b.host_seconds);
  });
  return times;
}

std::string profile_text(const Trace& trace, const Machine& machine, const Style& style) {
  const std::vector<Holder> holders = holders_at_peak(trace, machine);
  return base::concat(kinds_table(holders, style), "\n", holders_table(trace, holders, style), "\n",
                      times_table(trace, machine, style));
}

json profile_json(const Trace& trace, const Machine& machine) {
  json holders = json::array();
  const std::vector<Holder> found = holders_at_peak(trace, machine);
  json kinds = json::object();
  for (const Holder& kind : by_kind(found)) kinds[std::string(to_string(kind.kind))] = kind.bytes;
  for (const Holder& holder : found) {
    holders.push_back({{"place", holder.place},
                       {"kind", to_string(holder.kind)},
                       {"storages", holder.storages},
                       {"bytes", holder.bytes}});
  }
  json times = json::array();
  for (const OpTime& time : times_by_op(trace, machine)) {
    times.push_back({{"op", time.op},
                     {"calls", time.calls},
                     {"device_seconds", time.device_seconds},
                     {"host_seconds", time.host_seconds}});
  }
  return {{"peak_bytes_by_kind", std::move(kinds)},
          {"holders", std::move(holders)},
          {"op_times", std::move(times)}};
}

}  // namespace lowtide::cli
