// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/memory_snapshot.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "report/pickle.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

// Where the made-up segment begins; an address of 0 would look like none.
constexpr std::int64_t kBase = std::int64_t{0x7f} << 32;

// Blocks in one row of addresses, each where it fits first.
class AddressRow {
 public:
  std::int64_t take(std::int64_t bytes, const sim::Stay* stay) {
    std::int64_t address = kBase;
    for (const auto& [start, block] : blocks_) {
      if (start - address >= bytes) break;
      address = start + block->bytes;
    }
    blocks_.emplace(address, stay);
    end_ = std::max(end_, address + bytes);
    return address;
  }
  void give(std::int64_t address) { blocks_.erase(address); }
  const std::map<std::int64_t, const sim::Stay*>& blocks() const { return blocks_; }
  std::int64_t end() const { return end_; }

 private:
  std::map<std::int64_t, const sim::Stay*> blocks_;
  std::int64_t end_ = kBase;
};

struct Event {
  double seconds = 0;
  bool is_alloc = false;
  std::size_t stay = 0;
};

// What goes at a time makes room for what comes then.
std::vector<Event> events_of(const SimulatedStep& step) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < step.log.stays.size(); ++i) {
    const sim::Stay& stay = step.log.stays[i];
    if (stay.end_seconds <= stay.start_seconds) continue;
    events.push_back({stay.start_seconds, true, i});
    if (stay.to != step.problem.trace->end()) events.push_back({stay.end_seconds, false, i});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.seconds, a.is_alloc) < std::tuple(b.seconds, b.is_alloc);
  });
  return events;
}

json frames_of(const Trace& trace, const sim::Stay& stay, OpId op) {
  const std::string what = stay.storage.valid() ? trace.storage(stay.storage).name : "workspace";
  if (!op.valid() || op >= trace.end()) {
    return {{{"name", what}, {"filename", "step"}, {"line", 0}}};
  }
  const Op& cause = trace.op(op);
  return {{{"name", cause.name + " -> " + what},
           {"filename", cause.layer.empty() ? "step" : cause.layer},
           {"line", op.index}}};
}

json entry_of(const char* action, std::int64_t address, const sim::Stay& stay, double seconds,
              json frames) {
  return {{"action", action},
          {"addr", address},
          {"size", stay.bytes},
          {"stream", 0},
          {"time_us", std::llround(seconds * 1e6)},
          {"category", to_string(stay.kind)},
          {"frames", std::move(frames)}};
}

json block_json(const char* state, std::int64_t address, std::int64_t bytes, json frames) {
  return {{"address", address},
          {"size", bytes},
          {"requested_size", bytes},
          {"state", state},
          {"frames", std::move(frames)}};
}

json segment_json(const Trace& trace, const AddressRow& row) {
  json blocks = json::array();
  std::int64_t address = kBase, active = 0;
  const auto fill_to = [&](std::int64_t end) {
    if (address < end) {
      blocks.push_back(block_json("inactive", address, end - address, json::array()));
    }
  };
  for (const auto& [start, stay] : row.blocks()) {
    fill_to(start);
    blocks.push_back(
        block_json("active_allocated", start, stay->bytes, frames_of(trace, *stay, stay->from)));
    address = start + stay->bytes;
    active += stay->bytes;
  }
  fill_to(row.end());
  return {{"device", 0},
          {"address", kBase},
          {"total_size", row.end() - kBase},
          {"allocated_size", active},
          {"active_size", active},
          {"requested_size", active},
          {"stream", 0},
          {"segment_type", "large"},
          {"segment_pool_id", {0, 0}},
          {"is_expandable", false},
          {"frames", json::array()},
          {"blocks", std::move(blocks)}};
}

}  // namespace

json memory_snapshot(const SimulatedStep& step) {
  const Trace& trace = *step.problem.trace;
  AddressRow row;
  std::vector<std::int64_t> addresses(step.log.stays.size(), 0);
  json events = json::array();
  for (const Event& event : events_of(step)) {
    const sim::Stay& stay = step.log.stays[event.stay];
    std::int64_t& address = addresses[event.stay];
    const OpId op = event.is_alloc ? stay.from : stay.to;
    const json frames = frames_of(trace, stay, op);
    if (event.is_alloc) {
      address = row.take(stay.bytes, &stay);
      events.push_back(entry_of("alloc", address, stay, event.seconds, frames));
      continue;
    }
    row.give(address);
    events.push_back(entry_of("free_requested", address, stay, event.seconds, frames));
    events.push_back(entry_of("free_completed", address, stay, event.seconds, frames));
  }
  json segments = json::array();
  if (row.end() > kBase) segments.push_back(segment_json(trace, row));
  return {{"segments", std::move(segments)},
          {"device_traces", {std::move(events)}},
          {"allocator_settings", json::object()},
          {"external_annotations", json::array()}};
}

std::string memory_snapshot_file(const SimulatedStep& step) {
  return pickled(memory_snapshot(step));
}

}  // namespace lowtide::report
