// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/page_data.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/names.h"
#include "report/online_memory.h"
#include "report/peak.h"
#include "report/step_data.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

// Later steps say more than earlier ones: of a long list, the end.
constexpr std::size_t kMostSteps = 500;
// A session has sixty; a record from elsewhere could have any number.
constexpr std::size_t kMostStatistics = 200;

json seconds_json(const std::optional<double>& seconds) {
  return seconds ? json(*seconds * 1e6) : json(nullptr);
}

json head_json(const Findings& findings) {
  const Study& study = findings.study;
  const RunRecord& record = study.record;
  json head = summary_json(findings);
  for (const char* key : {"prices", "policies", "advice"}) head.erase(key);
  head["machine"] = record.machine.name;
  head["batch"] = record.batch;
  head["outside_bytes"] = record.outside_bytes;
  head["step_budget_bytes"] = record.step_budget_bytes();
  head["run_policy"] = record.policy;
  head["ops"] = study.trace().ops().size();
  head["storages"] = study.trace().storages().size();
  head["plan_seconds"] = study.plan_seconds;
  head["working_set_bytes"] = study.memory.working_set_bytes;
  return head;
}

json storages_json(const Findings& findings, std::size_t most, Names& names) {
  const Trace& trace = findings.study.trace();
  json rows = json::array();
  for (const StorageStory& story : findings.storages) {
    if (rows.size() == most) break;
    const Storage& storage = trace.storage(story.storage);
    rows.push_back({names.text(storage.name), names.text(story.place),
                    static_cast<int>(storage.kind), story.bytes,
                    names.text(std::string(to_string(story.fate))),
                    seconds_json(story.recompute_seconds), seconds_json(story.transfer_seconds),
                    story.idle_seconds * 1e6, story.copy_seconds * 1e6, story.exposed_seconds * 1e6,
                    story.replay_seconds * 1e6, story.reason});
  }
  return rows;
}

// The run itself, where the online rule kept the budget.
json online_json(const Study& study, const PageDetail& detail, Names& names) {
  if (!study.record.online) return nullptr;
  const Timeline kept = memory_under_online_rule(study);
  double peak_seconds = 0;
  for (const TickUse& tick : kept.ticks) {
    if (tick.op == kept.peak_op) peak_seconds = tick.start_seconds;
  }
  return {{"us", kept.seconds * 1e6},
          {"peakBytes", kept.peak_bytes},
          {"peak", {{"at", peak_seconds * 1e6}}},
          {"memory", memory_data(kept, detail.samples, names)}};
}

json alternatives_json(const std::vector<Alternative>& alternatives) {
  json rows = json::array();
  for (const Alternative& one : alternatives) {
    json row{{"policy", one.policy}, {"budget", one.budget_bytes}, {"shown", one.is_shown}};
    if (one.refusal) {
      row["smallest"] = one.refusal->smallest_budget_bytes;
      row["reason"] = one.refusal->reason;
    } else {
      row.update({{"us", one.seconds * 1e6},
                  {"peak", one.peak_bytes},
                  {"moved", one.moved_bytes},
                  {"recomputeUs", one.recompute_seconds * 1e6},
                  {"stallUs", one.stall_seconds * 1e6},
                  {"planSeconds", one.plan_seconds}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Of all texts in it.
void shorten(json& data) {
  if (data.is_string()) data = shortened(data.get_ref<const std::string&>(), kLongestText);
  if (!data.is_structured()) return;
  for (json& part : data) shorten(part);
}

json statistics_json(const json& statistics) {
  json few = json::object();
  for (const auto& [name, value] : statistics.items()) {
    if (few.size() == kMostStatistics) break;
    few[shortened(name, kLongestText)] = value;
  }
  return few;
}

json run_json(const RunRecord& record) {
  std::vector<double> seconds = record.step_seconds;
  if (seconds.size() > kMostSteps) {
    seconds.erase(seconds.begin(), seconds.end() - static_cast<std::ptrdiff_t>(kMostSteps));
  }
  return {{"statistics", statistics_json(record.statistics)},
          {"stepSeconds", seconds},
          {"steps", record.step_seconds.size()}};
}

template <class Word>
json words_json(std::size_t count) {
  json words = json::array();
  for (std::size_t i = 0; i < count; ++i) words.push_back(to_string(static_cast<Word>(i)));
  return words;
}

}  // namespace

json page_data(const Findings& findings, const PageDetail& detail) {
  const Study& study = findings.study;
  Names names(study.trace());
  json data{{"head", head_json(findings)},
            {"kinds", words_json<StorageKind>(kStorageKinds)},
            {"phases", words_json<Phase>(4)},
            {"causes", words_json<StallCause>(kStallCauses)},
            {"tellingGroups", Peak::kTellingGroups},
            {"plain", step_data(study.plain, findings.plain_peak, detail, names)},
            {"planned", nullptr},
            {"online", online_json(study, detail, names)},
            {"storages", storages_json(findings, detail.storages, names)},
            {"prices", alternatives_json(findings.prices)},
            {"policies", alternatives_json(findings.policies)},
            {"run", run_json(study.record)},
            {"advice", json::array()}};
  if (study.planned) {
    data["planned"] = step_data(*study.planned, findings.planned_peak, detail, names);
  }
  for (const Advice& advice : findings.advice) {
    data["advice"].push_back({advice.title, advice.reason});
  }
  for (const char* part : {"head", "planned", "prices", "policies", "run", "advice"}) {
    shorten(data[part]);
  }
  data["names"] = names.texts();
  data["ops"] = names.ops();
  return data;
}

}  // namespace lowtide::report
