// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/policy.h"

// The rows of the catalogue that stand in files of their own; catalogue.cpp has the others and the
// order.

namespace lowtide::policy {

std::vector<PolicyInfo> published_layer_swaps();
std::vector<PolicyInfo> published_swaps();
std::vector<PolicyInfo> published_tier_swaps();
std::vector<PolicyInfo> published_chains();
std::vector<PolicyInfo> published_replays();
std::vector<PolicyInfo> published_online();
std::vector<PolicyInfo> published_saved_sets();
std::vector<PolicyInfo> published_hybrids();

// The options of every policy that is an online rule run by the runner.
std::vector<OptionInfo> online_options(const char* search);

// When a policy that chooses the algorithms of convolutions does.
inline constexpr const char* kAlgorithms = "where a trace has several algorithms of a convolution";

}  // namespace lowtide::policy
