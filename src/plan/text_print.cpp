// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <sstream>

#include "plan/action_words.h"
#include "plan/text.h"

namespace lowtide::plan {

std::string print_text(const Plan& plan, const Problem& problem) {
  require_digest(plan.trace_digest, *problem.trace);
  require_printable(plan, problem);
  std::ostringstream out;
  out << "lowtide-plan 1\npolicy " << plan.policy << "\ntrace " << plan.trace_digest << "\nbudget "
      << plan.budget_bytes << '\n';
  for (const StartsIn& start : plan.starts) {
    out << "starts " << problem.trace->storage(start.storage).name << ' '
        << problem.machine.tier(start.tier).name << '\n';
  }
  for (const Action& action : plan.actions) {
    const char* gap = "";
    for (const std::string& word : to_words(action, problem)) {
      out << gap << word;
      gap = " ";
    }
    out << '\n';
  }
  if (plan.online) {
    out << "online " << plan.online->policy;
    for (const auto& [key, value] : plan.online->options) out << ' ' << key << '=' << value;
    out << '\n';
  }
  return out.str();
}

}  // namespace lowtide::plan
