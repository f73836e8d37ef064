// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/step_csv.h"

#include "base/check.h"
#include "base/csv.h"
#include "base/printed.h"

namespace lowtide::report {
namespace {

using base::concat;

std::string number(double seconds) { return base::printed("%.9g", seconds); }

std::string lines_of(const char* which, const SimulatedStep& step) {
  const Trace& trace = *step.problem.trace;
  std::string text;
  for (const TickUse& tick : step.timeline.ticks) {
    if (tick.op >= trace.end()) continue;
    const Op& op = trace.op(tick.op);
    text += concat(which, ",", tick.op.index, ",", base::csv_field(op.name), ",",
                   base::csv_field(op.layer), ",", to_string(op.phase), ",",
                   number(tick.start_seconds), ",", number(tick.end_seconds));
    for (const std::int64_t bytes : tick.bytes) text += concat(",", bytes);
    text += concat(",", tick.total_bytes(), ",", tick.leaving_bytes, "\n");
  }
  return text;
}

}  // namespace

std::string step_csv(const Study& study) {
  std::string text = "step,op,name,layer,phase,start_seconds,end_seconds";
  for (std::size_t i = 0; i < kStorageKinds; ++i) {
    text += concat(",", to_string(static_cast<StorageKind>(i)), "_bytes");
  }
  text += ",total_bytes,leaving_bytes\n" + lines_of("plain", study.plain);
  if (study.planned) text += lines_of("planned", *study.planned);
  return text;
}

}  // namespace lowtide::report
