// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison_page.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/markup.h"
#include "cli/comparison_plot.h"
#include "cli/figures.h"
#include "cli/svg.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Policies side by side</title>
<style>
body { font: 14px/1.45 Helvetica, Arial, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em; color: #222; background: #fff }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; margin: 1em 0 3em; width: 100% }
th, td { padding: .15em .6em; text-align: right; white-space: nowrap }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2), td.why { text-align: left }
td.why { white-space: normal; color: #777 }
tr.group td { border-top: 1px solid #bbb }
tr.best { font-weight: bold }
.faded { opacity: .12 }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #ddd } tr.group td { border-color: #555 } svg { background: #fff } }
</style></head><body>
<h1>Policies side by side</h1>
<p>What each policy makes of each budget, as the simulator predicts it. Point at a policy to see its line alone.</p>
)";

// Fades whatever belongs to other policies of the same section.
constexpr const char* kScript = R"(<script>
for (const section of document.querySelectorAll("section")) {
  const marked = [...section.querySelectorAll("[class*='p-']")];
  const nameOf = e => [...e.classList].find(c => c.startsWith("p-"));
  section.addEventListener("mouseover", event => {
    const over = event.target.closest("[class*='p-']");
    const name = over ? nameOf(over) : "";
    for (const e of marked) e.classList.toggle("faded", !!name && nameOf(e) !== name);
  });
  section.addEventListener("mouseleave", () => marked.forEach(e => e.classList.remove("faded")));
}
</script>
)";

std::string row_of(const ComparedPlan& plan, bool is_first) {
  std::string text = concat("<tr class=\"p-", plan.policy, is_first ? " group" : "",
                            plan.is_best ? " best" : "", "\"><td>",
                            is_first ? concat(base::markup_escaped(plan.budget), " &middot; ",
                                              format_bytes(plan.budget_bytes))
                                     : std::string(),
                            "</td><td>", plan.policy, "</td>");
  if (plan.refusal) {
    return concat(text, "<td class=\"why\" colspan=\"6\">refused (min ",
                  format_bytes(plan.refusal->smallest_budget_bytes), ") in ", planned_in(plan),
                  ": ", base::markup_escaped(plan.refusal->reason), "</td></tr>\n");
  }
  for (const std::string& cell : {format_overhead(plan.overhead), format_seconds(plan.step_seconds),
                                  format_bytes(plan.peak_bytes), format_bytes(plan.moved_bytes),
                                  format_seconds(plan.recompute_seconds), planned_in(plan)}) {
    text += concat("<td>", cell, "</td>");
  }
  return text + "</tr>\n";
}

}  // namespace

std::string comparison_section(const PlainStep& step, const std::vector<ComparedPlan>& plans) {
  std::string rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    rows += row_of(plans[i], i == 0 || plans[i].budget != plans[i - 1].budget);
  }
  return concat("<section>\n<h2>", base::markup_escaped(step.trace->name()), "</h2>\n",
                comparison_plot(step, plans),
                "<table><thead><tr><th>budget</th><th>policy</th><th>overhead</th><th>step</th>"
                "<th>peak</th><th>moved</th><th>recomputed</th><th>planned in</th></tr></thead>\n",
                rows, "</table>\n</section>\n");
}

std::string comparison_page(const std::string& sections) {
  return concat(kHead, sections, kScript, "</body></html>\n");
}

}  // namespace lowtide::cli
