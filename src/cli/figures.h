// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/plan.h"
#include "lowtide/simulate.h"

// Numbers that several verbs derive from a plan or a timeline.

namespace lowtide::cli {

// The time that a plan adds, as a share of the plain step's.
double overhead(double plain_seconds, double seconds);
// "8.3 %"; "+8.3 %" with the sign that says which way.
std::string format_percent(double share);
std::string format_overhead(double share);

// Bytes that leave the device for host memory (the first tier), and for all further tiers.
std::int64_t bytes_to_host(const Timeline& timeline);
std::int64_t bytes_to_disk(const Timeline& timeline);
// Over all links, both ways.
std::int64_t bytes_moved(const Timeline& timeline);

// "convolution (op 220) of layer2.0.conv1", as far as the layer is known. Requires: a valid op.
std::string op_words(const Trace& trace, OpId op);

struct ActionCount {
  const char* singular;
  const char* plural;
  std::int64_t count = 0;
};
// How many actions of each sort a plan has, those it has none of included.
std::vector<ActionCount> count_actions(const Plan& plan);

// Actions that take a value off the device or shrink it there.
std::int64_t evictions(const Plan& plan);

// The stalls that took longest, longest first.
std::vector<Stall> longest_stalls(const Timeline& timeline, std::size_t limit);

}  // namespace lowtide::cli
