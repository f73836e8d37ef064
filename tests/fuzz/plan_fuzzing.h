// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fuzzing.h"
#include "lowtide/machine.h"
#include "lowtide/plan.h"
#include "trace/text.h"

namespace lowtide::fuzz {

// A step with one of everything that a plan can name.
inline const Problem& plan_problem() {
  static const Problem kProblem = [] {
    Problem problem;
    problem.trace = std::make_shared<const Trace>(trace::parse_text(
        "lowtide-trace 1\nname small\n"
        "storage w 4 parameter start end\nstorage x 2 input start\nstorage m 1 state start end\n"
        "storage p 1 state start end pinned\nstorage u 3 input start\n"
        "storage a 8 activation codec=zip:4:1:1 codec=fp8:2:1:1:lossy\n"
        "storage b 6 activation\nstorage c 5 activation\nstorage g 4 gradient\n"
        "op f0 forward device=1 : x w ~m -> a ~m\n"
        "op f1 forward device=2 random option=fast:1:0:inexact option=cpu:9:0:host : a p -> b\n"
        "op relu forward device=1 : b -> b free x\n"
        "op f2 forward workspace=3 option=uva:4:0:host_reads : b w -> c\n"
        "op view forward : -> | c\n"
        "op b2 backward once : c b -> g\n"
        "op b1 backward device=3 : a g -> g free a\n"
        "op step optimizer device=1 : g w -> w p free b u\n"));
    problem.machine = unit_machine();
    problem.budget_bytes = 40;
    return problem;
  }();
  return kProblem;
}

// The input with the word DIGEST replaced by the digest that a plan for the problem must name:
// no fuzzer would find that by itself, and the corpus outlives a change of the digest.
inline std::string with_digest(std::string_view text) {
  constexpr std::string_view kWord = "DIGEST";
  std::string result(text);
  const std::size_t found = result.find(kWord);
  if (found != std::string::npos) {
    result.replace(found, kWord.size(), digest(*plan_problem().trace));
  }
  return result;
}

// Feeds one input to a parser of plans; whatever plan it makes, verify must come to an end.
template <class Parse, class Print>
void check_plan(std::string_view text, Parse parse_for, Print print_for) {
  const auto parse = [&](std::string_view t) { return parse_for(t, plan_problem()); };
  const auto print = [&](const Plan& plan) { return print_for(plan, plan_problem()); };
  const auto plan = accepted(parse, with_digest(text));
  if (!plan) return;
  require_fixed_point(*plan, parse, print);
  require(parse(print(*plan)) == *plan, "a plan parses back to itself");
  const Verdict verdict = verify(plan_problem(), *plan);
  require(verdict.peak_bytes >= 0, "a peak is not negative");
  for (const Violation& violation : verdict.violations) {
    require(!violation.message.empty(), "a violation says what is wrong");
  }
}

}  // namespace lowtide::fuzz
