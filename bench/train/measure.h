// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device_memory.h"
#include "lowtide/session.h"
#include "modes.h"
#include "work.h"

namespace lowtide::bench {

struct MeasureOptions {
  // A plan is made from the second step and takes effect with the third; fetches that come late are
  // hurried in some of those that follow, and then blocks find their places.
  int warm_up_steps = 12;
  // See SessionOptions.
  bool own_pages = true;
  // Of more modes, with commas, and who plans them; empty: there are none, and "auto".
  std::string budget{};
  std::vector<std::string> policies{};
  int timed_steps = 5;
  // All modes in turn, so often.
  int rounds = 5;
  // No round is begun after so long, except the first two; 0: no limit.
  double seconds = 0;
  // If not empty, where one more step of the last mode is written down after its timed ones.
  std::string timeline{};
  // Say of each step of a session, while it warms up too, how long it took and what it had to do.
  bool says_each_step = false;
  // If not empty, only modes whose name holds one of these; plain and watching always.
  std::vector<std::string> only{};
};

// One mode over all rounds.
struct Row {
  Mode mode;
  std::int64_t budget_bytes = 0;
  // One list a round.
  std::vector<std::vector<double>> step_seconds{};
  // Of those, until the host had issued the step's work. All rounds in one list.
  std::vector<double> host_seconds{};
  // Of the same, for which the thread that takes the steps had a processor.
  std::vector<double> processor_seconds{};
  // By round: the median of the mode's steps over that of plain's.
  std::vector<double> ratios{};
  // Peaks of all rounds; flushes and failures in the timed steps of the last.
  DeviceMemory torch{};
  // Of the last round: when its warm-up ended, and at its end, with the peaks of both parts.
  SessionStats warm_up{};
  SessionStats session{};
  // The session's in the timed steps of the last round.
  std::int64_t timed_peak_bytes = 0;
  int timed_steps = 0;
  bool losses_match = true;
  bool parameters_match = true;
  bool buffers_match = true;
  // Why it was not measured further; of a refusal, with the budget that its op needed.
  std::string failure{};
  std::int64_t smallest_budget_bytes = 0;
  bool is_usable_after = true;

  // Of a count in the session's statistics: how much a timed step added.
  template <class Number>
  double each_step(Number SessionStats::*count) const {
    return static_cast<double>(session.*count - warm_up.*count) / std::max(timed_steps, 1);
  }
  bool is_refused() const { return smallest_budget_bytes > 0; }
  bool matches() const { return losses_match && parameters_match && buffers_match; }
};

struct Measurement {
  WorkOptions work;
  int rounds = 0;
  std::int64_t plain_peak_bytes = 0;
  bool plain_repeats = true;
  std::vector<Row> rows;
};

// Progress goes to stderr. Requires: no session is open.
Measurement measure(const WorkOptions& work, const MeasureOptions& options);

// What Lowtide promises and the measurement shows to be broken, in words; empty if all is well.
std::vector<std::string> broken_promises(const Measurement& measurement);

// 0 without values.
double median(const std::vector<double>& values);

}  // namespace lowtide::bench
