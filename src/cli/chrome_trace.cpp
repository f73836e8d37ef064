// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/chrome_trace.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace lowtide::cli {
namespace {

using nlohmann::json;

constexpr int kProcess = 1;
constexpr int kOpsRow = 1;
constexpr int kCopiesRow = 2;
constexpr double kMicroseconds = 1e6;

class ChromeTrace {
 public:
  explicit ChromeTrace(const PlannedStep& planned)
      : trace_(*planned.problem.trace), planned_(planned), spans_(trace_.ops().size() + 1) {
    for (TickSpan& span : spans_) span.start = span.end = planned.timeline.seconds;
    for (const TickUse& tick : planned.timeline.ticks) {
      if (!tick.op.valid() || tick.op > trace_.end()) continue;
      spans_[tick.op.slot()] = {tick.start_seconds, tick.end_seconds};
    }
  }

  std::string text() {
    name_row("process_name", 0, "lowtide: " + trace_.name() + ", " + planned_.plan.policy);
    name_row("thread_name", kOpsRow, "ops");
    name_row("thread_name", kCopiesRow, "values away from the device");
    for (const TickUse& tick : planned_.timeline.ticks) add_tick(tick);
    add_copies();
    return json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}}.dump() + "\n";
  }

 private:
  struct TickSpan {
    double start = 0;
    double end = 0;
  };

  void name_row(const char* what, int row, const std::string& name) {
    events_.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", kProcess}, {"tid", row}, {"args", {{"name", name}}}});
  }

  void add_tick(const TickUse& tick) {
    json bytes = json::object();
    for (std::size_t i = 0; i < kStorageKinds; ++i) {
      bytes[std::string(to_string(static_cast<StorageKind>(i)))] = tick.bytes[i];
    }
    events_.push_back({{"ph", "C"},
                       {"name", "device memory"},
                       {"pid", kProcess},
                       {"ts", tick.start_seconds * kMicroseconds},
                       {"args", std::move(bytes)}});
    if (!tick.op.valid() || tick.op >= trace_.end()) return;
    const Op& op = trace_.op(tick.op);
    events_.push_back({{"ph", "X"},
                       {"name", op.name},
                       {"cat", to_string(op.phase)},
                       {"pid", kProcess},
                       {"tid", kOpsRow},
                       {"ts", tick.start_seconds * kMicroseconds},
                       {"dur", (tick.end_seconds - tick.start_seconds) * kMicroseconds},
                       {"args", {{"op", tick.op.index}, {"layer", op.layer}}}});
  }

  // Moves and fetches of a value alternate in the order of their positions.
  void add_copies() {
    std::unordered_map<ValueId, std::vector<double>> fetched;
    for (const Action& action : planned_.plan.actions) {
      const Fetch* fetch = std::get_if<Fetch>(&action);
      if (fetch == nullptr) continue;
      const double issued = spans_[fetch->issue_before.slot()].start;
      fetched[fetch->value].push_back(issued);
      add_bar(fetch->value, "coming", issued, spans_[fetch->needed_by.slot()].start);
    }
    for (const Action& action : planned_.plan.actions) {
      const Move* move = std::get_if<Move>(&action);
      if (move == nullptr) continue;
      const double moved = spans_[move->after.slot()].end;
      double back = planned_.timeline.seconds;
      for (const double issued : fetched[move->value]) {
        if (issued >= moved) back = std::min(back, issued);
      }
      add_bar(move->value, "in " + planned_.problem.machine.tier(move->tier).name, moved, back);
    }
  }

  void add_bar(ValueId value, const std::string& what, double start, double end) {
    const json common{{"cat", "copy"},
                      {"name", trace_.value_name(value) + " " + what},
                      {"id", next_bar_++},
                      {"pid", kProcess},
                      {"tid", kCopiesRow}};
    json begins = common;
    begins.update({{"ph", "b"},
                   {"ts", start * kMicroseconds},
                   {"args", {{"bytes", trace_.storage_of(value).bytes}}}});
    json ends = common;
    ends.update({{"ph", "e"}, {"ts", std::max(start, end) * kMicroseconds}});
    events_.push_back(std::move(begins));
    events_.push_back(std::move(ends));
  }

  const Trace& trace_;
  const PlannedStep& planned_;
  // By op, and the end of the step.
  std::vector<TickSpan> spans_;
  json events_ = json::array();
  int next_bar_ = 1;
};

}  // namespace

std::string chrome_trace(const PlannedStep& planned) { return ChromeTrace(planned).text(); }

}  // namespace lowtide::cli
