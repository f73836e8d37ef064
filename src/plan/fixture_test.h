// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lowtide/plan.h"

// What the tests of this folder share: problems and plans from a few lines of text.

namespace lowtide::plan {

// The problem of a trace in text form, without its first two lines, on the unit machine.
Problem problem_of(std::string_view trace_lines, std::int64_t budget_bytes = 1000);

// A plan from the action lines of the text form.
Plan plan_of(const Problem& problem, std::string_view action_lines);

Verdict verdict_of(const Problem& problem, std::string_view action_lines);

// One line for each violation: "kind: message".
std::string violations_of(const Verdict& verdict);

// The message of the InvalidInput that `action` throws; empty if it throws none.
std::string refusal_of(const std::function<void()>& action);

// Four ops in a row, of which the last comes back to the first result.
//   tick 0: w a         11
//   tick 1: w a b       13
//   tick 2: w a b c     16
//   tick 3: w a c d     15
inline constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 10 activation codec=half:4:1:1 codec=rough:2:1:1:lossy
storage b 2 activation codec=half:1:1:1
storage c 3 activation
storage d 1 activation end
op f forward : w -> a
op g forward : a -> b
op h forward : b -> c
op i backward : a c -> d
)";

// `u` overwrites what `f` reads.
inline constexpr std::string_view kOverwrite = R"(
storage x 1 state start end
storage a 10 activation
storage d 1 activation end
op f forward : x -> a
op u other : x -> x
op i backward : a -> d
)";

inline constexpr std::string_view kPinned = R"(
storage w 1 parameter start end pinned codec=half:1:0:0
storage d 1 activation end
op f forward : w -> d
op g forward : w d -> d
op h forward : d -> d
)";

inline constexpr std::string_view kOnHost = R"(
storage p 10 parameter start end codec=half:5:0:0
storage g 4 gradient start
storage d 1 activation end
op touch other : g -> d
op adam optimizer option=cpu:2:100:host option=fast:1:0:inexact : p g -> p
op last other : p -> d
)";

inline constexpr std::string_view kReadsHost = R"(
storage w 4 parameter start end codec=half:2:0:0
storage a 10 activation
storage d 1 activation end
op f forward option=zero_copy:2:3:host_reads : w -> a
op g forward : a -> d
)";

}  // namespace lowtide::plan
