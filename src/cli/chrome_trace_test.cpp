// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/chrome_trace.h"

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "trace/text.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

constexpr const char* kStep = R"(lowtide-trace 1
name swap
storage x 4 input start
storage a 8 activation
storage b 1 activation
storage c 1 activation
op f forward layer=one : x -> a
op g forward : x -> b
op h forward : b -> c
op i backward : a c -> b
)";

PlannedStep swapped_step() {
  const auto trace = std::make_shared<const Trace>(trace::parse_text(kStep));
  PlannedStep step;
  step.problem = Problem{.trace = trace, .machine = unit_machine()};
  step.plan.policy = "by_hand";
  const ValueId a = trace->versions(StorageId{1}).front();
  step.plan.actions = {Move{a, TierId{0}, OpId{0}, ""}, Fetch{a, OpId{2}, OpId{3}}};
  step.timeline.seconds = 40;
  for (int op = 0; op < 4; ++op) {
    TickUse tick{.op = OpId{op}, .start_seconds = 10.0 * op, .end_seconds = 10.0 * op + 5};
    tick.bytes[static_cast<std::size_t>(StorageKind::kInput)] = 4;
    step.timeline.ticks.push_back(tick);
  }
  return step;
}

TEST(ChromeTrace, HasOpsMemoryAndCopies) {
  const json document = json::parse(chrome_trace(swapped_step()));
  std::map<std::string, int> by_sort;
  std::map<std::string, std::pair<double, double>> bars;
  for (const json& event : document["traceEvents"]) {
    const std::string sort = event["ph"];
    ++by_sort[sort];
    if (sort == "b") bars[event["name"]].first = event["ts"];
    if (sort == "e") bars[event["name"]].second = event["ts"];
    if (sort == "X" && event["name"] == "f") {
      EXPECT_EQ(event["dur"], 5e6);
      EXPECT_EQ(event["args"]["layer"], "one");
    }
    if (sort == "C") {
      EXPECT_EQ(event["args"]["input"], 4);
    }
  }
  EXPECT_EQ(by_sort["X"], 4);
  EXPECT_EQ(by_sort["C"], 4);
  EXPECT_EQ(bars["a.0 in host"], std::pair(5e6, 20e6));
  EXPECT_EQ(bars["a.0 coming"], std::pair(20e6, 30e6));
}

}  // namespace
}  // namespace lowtide::cli
