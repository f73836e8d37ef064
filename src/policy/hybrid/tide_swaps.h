// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "policy/gap_writer.h"
#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

struct SwapWishes {
  // How much of each lane of the link planned copies may fill; more than 1 and some will show.
  double link_share = 0.95;
  // What a byte of a value that no replay can bring back is worth, in seconds.
  double source_price = 1e-8;
  // By value, empty where there are none: by when a replay wants it, if before its next read; -1 if
  // it is not to be swapped at all.
  std::vector<trace::Tick> wanted_by;
  // By value; empty where all are 1. What is dear to replay is swapped first.
  std::vector<float> prices;
};

// Swaps that compute hides: each has its slot in both lanes, out after the use before the gap and
// in before the use after it, and covers a part of the step that is over the budget. Chosen by what
// a replay of the value would cost, until the lanes are full or the step fits.
std::vector<SwapDecision> choose_swaps(const TideStep& step, const SwapWishes& wishes);

}  // namespace lowtide::policy
