// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/advice.h"
#include "report/alternatives.h"
#include "report/peak.h"
#include "report/storage_story.h"
#include "report/study.h"

namespace lowtide::report {

// All that a report says about a run.
struct Findings {
  explicit Findings(Study its_study) : study(std::move(its_study)) {}

  Study study;
  Peak plain_peak;
  Peak planned_peak;
  std::vector<StorageStory> storages;
  std::vector<Alternative> prices;
  std::vector<Alternative> policies;
  std::vector<Advice> advice;
};

// Takes about so many seconds for plans, most of them if the record has none; the rest is quick.
// The record must outlive what is returned.
Findings find_out(const RunRecord& record, double think_seconds);

// The figures of a report in one object, by the names that other verbs have for them.
nlohmann::json summary_json(const Findings& findings);

}  // namespace lowtide::report
