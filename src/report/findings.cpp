// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/findings.h"

#include <algorithm>
#include <utility>

namespace lowtide::report {
namespace {

using nlohmann::json;

constexpr std::size_t kMostStorages = 400;

json op_json(const Trace& trace, OpId op) {
  const bool has_op = op.valid() && op < trace.end();
  return {{"index", op.index},
          {"name", has_op ? trace.op(op).name : "end of step"},
          {"layer", has_op ? trace.op(op).layer : ""}};
}

std::string_view basis_of(const Study& study) {
  if (!study.planned) return study.refusal ? "refused" : "plain";
  if (study.is_predicted) return "predicted";
  return study.record.was_run ? "carried_out" : "simulated";
}

json alternatives_json(const std::vector<Alternative>& alternatives) {
  json list = json::array();
  for (const Alternative& one : alternatives) {
    json entry{{"policy", one.policy}, {"budget_bytes", one.budget_bytes}};
    if (one.refusal) {
      entry["smallest_budget_bytes"] = one.refusal->smallest_budget_bytes;
    } else {
      entry["step_seconds"] = one.seconds;
      entry["peak_bytes"] = one.peak_bytes;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// What the online rule did in the step, in all.
json online_json(const Study& study) {
  using Kind = plan::OnlineDeed::Kind;
  const auto count = [&](Kind kind) {
    return std::count_if(study.record.online->begin(), study.record.online->end(),
                         [&](const plan::OnlineDeed& deed) { return deed.kind == kind; });
  };
  double replay_seconds = 0;
  for (const plan::OnlineDeed& deed : *study.record.online) replay_seconds += deed.seconds;
  return {{"drops", count(Kind::kDrop)},
          {"moves", count(Kind::kMove)},
          {"fetches", count(Kind::kFetch)},
          {"replays", count(Kind::kReplay)},
          {"replay_seconds", replay_seconds}};
}

}  // namespace

Findings find_out(const RunRecord& record, double think_seconds) {
  Findings findings(study(record, think_seconds * 0.4));
  const Study& study = findings.study;
  findings.plain_peak = explain_peak(study.plain);
  if (study.planned) findings.planned_peak = explain_peak(*study.planned);
  findings.storages = tell_storages(study, kMostStorages);
  findings.prices = price_budgets(study, think_seconds * 0.35);
  findings.policies = compare_policies(study, think_seconds * 0.25);
  findings.advice = advise(study, findings.plain_peak, findings.prices);
  return findings;
}

json summary_json(const Findings& findings) {
  const Study& study = findings.study;
  const Timeline& plain = study.plain.timeline;
  const Timeline& after = study.after().timeline;
  json summary{{"title", study.record.title},
               {"trace", study.trace().name()},
               {"device", study.record.device},
               {"basis", basis_of(study)},
               {"policy", study.planned ? study.planned->plan.policy : study.record.policy},
               {"budget_bytes", study.record.budget_bytes},
               {"plain_peak_bytes", study.memory.plain_peak_bytes},
               {"plain_peak_op", op_json(study.trace(), findings.plain_peak.op)},
               {"plain_step_seconds", plain.seconds},
               {"peak_bytes", after.peak_bytes},
               {"peak_op", op_json(study.trace(), after.peak_op)},
               {"step_seconds", after.seconds},
               {"overhead", plain.seconds > 0 ? after.seconds / plain.seconds - 1 : 0},
               {"recompute_seconds", after.recompute_seconds},
               {"stall_seconds", after.total_stall_seconds()},
               {"prices", alternatives_json(findings.prices)},
               {"policies", alternatives_json(findings.policies)},
               {"advice", json::array()}};
  for (const Advice& advice : findings.advice) {
    summary["advice"].push_back({{"title", advice.title}, {"reason", advice.reason}});
  }
  if (study.record.online) summary["online"] = online_json(study);
  if (study.refusal) {
    summary["reason"] = study.refusal->reason;
    summary["smallest_budget_bytes"] = study.refusal->smallest_budget_bytes;
  }
  return summary;
}

}  // namespace lowtide::report
