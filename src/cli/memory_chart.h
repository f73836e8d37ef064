// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"
#include "lowtide/simulate.h"

namespace lowtide::cli {

struct ChartOptions {
  // Of the whole picture, the labels on its left included.
  int columns = 100;
  // Of the area that memory is drawn in.
  int rows = 20;
  // Lines across the picture; one that would squeeze the rest into its lower half is left out.
  std::optional<std::int64_t> budget_bytes{};
  std::optional<std::int64_t> plain_peak_bytes{};
};

// Draws device memory over the time of the step: areas stacked by kind, the budget, the peak, and
// under the time axis the phases. In colour, kinds are told apart by colour and heights are exact
// to an eighth of a row; without, by texture (or letters, without Unicode).
std::string draw_memory(const Trace& trace, const Timeline& timeline, const ChartOptions& options,
                        const Style& style);

}  // namespace lowtide::cli
