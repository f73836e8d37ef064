// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <nlohmann/json.hpp>

#include "report/findings.h"

namespace lowtide::report {

// How much a page shows, at most. Where there is more, neighbours in time are put together, and no
// peak is lost; of storages, the smallest are left out.
struct PageDetail {
  std::size_t samples = 1200;
  std::size_t bars = 3000;
  std::size_t storages = 300;

  PageDetail halved() const { return {samples / 2, bars / 2, storages / 2}; }
};

// What report.js draws, in few bytes: lists by column instead of objects, names once each, times in
// microseconds, memory over time in KiB but for small steps.
nlohmann::json page_data(const Findings& findings, const PageDetail& detail);

}  // namespace lowtide::report
